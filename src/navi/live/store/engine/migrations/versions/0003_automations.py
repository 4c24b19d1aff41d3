"""Automations: scheduled turns that belong to sessions, and their runs.

Revision ID: 0003
"""

import sqlalchemy as sa
from alembic import op

from navi.live.store.engine.tables import Instant, Json

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "automations",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("session_key", sa.Text, sa.ForeignKey("sessions.id", ondelete="CASCADE")),
        sa.Column("schedule_kind", sa.Text, nullable=False),
        sa.Column("at", Instant),
        sa.Column("every_seconds", sa.Integer),
        sa.Column("anchor_at", Instant),
        sa.Column("cron_expr", sa.Text),
        sa.Column("tz", sa.Text),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("catch_up", sa.Text, nullable=False),
        sa.Column("max_runs", sa.Integer),
        sa.Column("expires_at", Instant),
        sa.Column("max_failures", sa.Integer, nullable=False),
        sa.Column("time_limit_seconds", sa.Integer),
        sa.Column("channel", sa.Text),
        sa.Column("to", sa.Text),
        sa.Column("channel_meta", Json),
        sa.Column("deliver", sa.Boolean, nullable=False),
        sa.Column("next_run_at", Instant),
        sa.Column("held_at", Instant),
        sa.Column("last_run_at", Instant),
        sa.Column("last_status", sa.Text),
        sa.Column("last_error", sa.Text),
        sa.Column("ended", sa.Text),
        sa.Column("run_count", sa.Integer, nullable=False),
        sa.Column("failures_in_row", sa.Integer, nullable=False),
        sa.Column("missed_count", sa.Integer, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
    )
    op.create_index("automations_by_session", "automations", ["session_key"])
    _create_partial("automations_due", "automations", "next_run_at", "next_run_at IS NOT NULL")
    op.create_table(
        "automation_runs",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("automation_id", sa.Text, nullable=False),
        sa.Column(
            "session_id",
            sa.Text,
            sa.ForeignKey("sessions.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("due_at", Instant, nullable=False),
        sa.Column("queued_at", Instant, nullable=False),
        sa.Column("started_at", Instant),
        sa.Column("ended_at", Instant),
        sa.Column("prompt_ref", Json),
        sa.Column("rendered_prompt", sa.Text),
        sa.Column("prompt_variables", Json),
        sa.Column("error", sa.Text),
        sa.Column("response_message_id", sa.Text),
        sa.Column("missed_count", sa.Integer, nullable=False),
        sa.Column("delivery", sa.Text),
    )
    by_automation = ["automation_id", "queued_at"]
    op.create_index("automation_runs_by_automation", "automation_runs", by_automation)
    op.create_index("automation_runs_by_session", "automation_runs", ["session_id"])
    is_active = "state IN ('queued', 'running')"
    _create_partial(
        "automation_runs_one_active", "automation_runs", "automation_id", is_active, unique=True
    )
    _create_partial(
        "automation_runs_to_deliver", "automation_runs", "ended_at", "delivery = 'pending'"
    )


def _create_partial(
    name: str, table: str, column: str, where: str, *, unique: bool = False
) -> None:
    condition = sa.text(where)
    op.create_index(
        name,
        table,
        [column],
        unique=unique,
        sqlite_where=condition,
        postgresql_where=condition,
    )
