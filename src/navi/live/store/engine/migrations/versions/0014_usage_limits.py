"""What is known about accounts' usage limits, and which inputs wait for them.

Revision ID: 0014
"""

import sqlalchemy as sa
from alembic import op

from navi.live.store.engine.tables import Instant

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "account_limits",
        sa.Column("account", sa.Text, primary_key=True),
        sa.Column("agent", sa.Text, nullable=False),
        sa.Column("user_id", sa.Text),
        sa.Column("windows", sa.JSON, nullable=False),
        sa.Column("kind", sa.Text),
        sa.Column("limited_at", Instant),
        sa.Column("resets_at", Instant),
        sa.Column("retry_at", Instant),
        sa.Column("next_slot_at", Instant),
        sa.Column("probes", sa.Integer, nullable=False),
    )
    op.add_column("message_queue", sa.Column("limit_account", sa.Text))
    op.add_column("sessions", sa.Column("limit_until", Instant))
