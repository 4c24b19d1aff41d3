"""Tokens of sessions, with which their agents call the server.

Revision ID: 0010
"""

import sqlalchemy as sa
from alembic import op

from navi.live.store.engine.tables import Instant

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    reference = sa.ForeignKey("sessions.id", ondelete="CASCADE")
    op.create_table(
        "session_tokens",
        sa.Column("token_sha256", sa.Text, primary_key=True),
        sa.Column("session_id", sa.Text, reference, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
    )
    op.create_index("session_tokens_by_session", "session_tokens", ["session_id", "created_at"])
