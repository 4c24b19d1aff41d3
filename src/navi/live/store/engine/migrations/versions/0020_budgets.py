"""Budgets, and the inputs that wait for used-up ones.

Revision ID: 0020
"""

import sqlalchemy as sa
from alembic import op

from navi.live.store.engine.tables import Instant

revision = "0020"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "budgets",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("owner_id", sa.Text, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("tokens", sa.BigInteger),
        sa.Column("dollars", sa.Double),
        sa.Column("daily", sa.Boolean, nullable=False),
        sa.Column("extra_tokens", sa.BigInteger, nullable=False),
        sa.Column("extra_dollars", sa.Double, nullable=False),
        sa.Column("used_tokens", sa.BigInteger, nullable=False),
        sa.Column("used_dollars", sa.Double, nullable=False),
        sa.Column("unpriced_turns", sa.Integer, nullable=False),
        sa.Column("unpriced_model", sa.Text),
        sa.Column("day", sa.Text),
        sa.Column("paused_until", Instant),
        sa.Column("question_id", sa.Text),
        sa.Column("asks", sa.Integer, nullable=False),
    )
    op.add_column("message_queue", sa.Column("budget", sa.Text))
    op.add_column("sessions", sa.Column("paused_by", sa.Text))
    op.add_column("sessions", sa.Column("pause_reason", sa.Text))
    op.add_column("sessions", sa.Column("paused_until", Instant))
