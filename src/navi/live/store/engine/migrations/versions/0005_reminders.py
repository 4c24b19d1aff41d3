"""Periodic and one-time reminders, and which agents are compacting their history.

Revision ID: 0005
"""

import sqlalchemy as sa
from alembic import op

from navi.live.store.engine.tables import Instant

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "remind_registrations",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("target_session_id", sa.Text, _session(), nullable=False),
        sa.Column("soft_threshold_seconds", sa.Integer, nullable=False),
        sa.Column("hard_threshold_seconds", sa.Integer, nullable=False),
        sa.Column("registered_at", Instant, nullable=False),
        sa.Column("last_reset_at", Instant, nullable=False),
        sa.Column("soft_fired", sa.Boolean, nullable=False),
        sa.Column("hard_fired", sa.Boolean, nullable=False),
        sa.Column("is_active", sa.Boolean, nullable=False),
        sa.Column("due_at", Instant, nullable=False),
    )
    op.create_index("remind_registrations_by_target", "remind_registrations", ["target_session_id"])
    op.create_index(
        "remind_registrations_one_active",
        "remind_registrations",
        ["target_session_id"],
        unique=True,
        sqlite_where=sa.text("is_active = 1"),
        postgresql_where=sa.text("is_active"),
    )
    op.create_index(
        "remind_registrations_due",
        "remind_registrations",
        ["due_at"],
        sqlite_where=sa.text("is_active = 1"),
        postgresql_where=sa.text("is_active"),
    )
    op.create_table(
        "scheduled_reminders",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("session_id", sa.Text, _session(), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("fires_at", Instant, nullable=False),
        sa.Column("due_at", Instant, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
    )
    op.create_index("scheduled_reminders_by_session", "scheduled_reminders", ["session_id"])
    pending = sa.text("status = 'pending'")
    op.create_index(
        "scheduled_reminders_due",
        "scheduled_reminders",
        ["due_at"],
        sqlite_where=pending,
        postgresql_where=pending,
    )
    op.create_table(
        "compactions",
        sa.Column("session_id", sa.Text, _session(), primary_key=True),
        sa.Column("began_at", Instant, nullable=False),
    )


def _session() -> sa.ForeignKey:
    return sa.ForeignKey("sessions.id", ondelete="CASCADE")
