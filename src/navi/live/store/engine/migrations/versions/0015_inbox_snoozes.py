"""What people don't want to see in their inbox for a while.

Revision ID: 0015
"""

import sqlalchemy as sa
from alembic import op

from navi.live.store.engine.tables import Instant

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "inbox_snoozes",
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("item_id", sa.Text, primary_key=True),
        sa.Column("snoozed_at", Instant, nullable=False),
        sa.Column("until", Instant),
    )
