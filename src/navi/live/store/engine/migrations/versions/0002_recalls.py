"""Recalls: wake-ups that sessions schedule for themselves.

Revision ID: 0002
"""

import sqlalchemy as sa
from alembic import op

from navi.live.store.engine.tables import Instant

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # What the agent is told, where that is more than what the transcript shows.
    op.add_column("message_queue", sa.Column("prompt", sa.Text))
    reference = sa.ForeignKey("sessions.id", ondelete="CASCADE")
    op.create_table(
        "session_recalls",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("session_id", sa.Text, reference, nullable=False),
        sa.Column("call_type", sa.Text, nullable=False),
        sa.Column("trigger_at", Instant, nullable=False),
        sa.Column("due_at", Instant, nullable=False),
        sa.Column("interval_seconds", sa.Integer),
        sa.Column("internal_comment", sa.Text),
        sa.Column("additional_context_message", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("outcome", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("missed_count", sa.Integer, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
    )
    pending = sa.text("status = 'pending'")
    op.create_index(
        "session_recalls_one_pending",
        "session_recalls",
        ["session_id"],
        unique=True,
        sqlite_where=pending,
        postgresql_where=pending,
    )
    op.create_index(
        "session_recalls_due",
        "session_recalls",
        ["trigger_at"],
        sqlite_where=pending,
        postgresql_where=pending,
    )
    op.create_index("session_recalls_by_session", "session_recalls", ["session_id", "created_at"])
