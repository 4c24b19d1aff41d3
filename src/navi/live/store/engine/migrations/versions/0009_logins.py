"""Browsers that are logged in, and the one-time codes that log them in.

Revision ID: 0009
"""

import sqlalchemy as sa
from alembic import op

from navi.live.store.engine.tables import Instant

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "logins",
        sa.Column("token_sha256", sa.Text, primary_key=True),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("owner_sha256", sa.Text, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("last_used_at", Instant, nullable=False),
    )
    op.create_table(
        "login_codes",
        sa.Column("code_sha256", sa.Text, primary_key=True),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("expires_at", Instant, nullable=False),
    )
