"""What agents themselves call their sessions.

Revision ID: 0004
"""

import sqlalchemy as sa
from alembic import op

from navi.live.store.engine.tables import Instant

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    reference = sa.ForeignKey("sessions.id", ondelete="CASCADE")
    op.create_table(
        "agent_sessions",
        sa.Column("driver", sa.Text, primary_key=True),
        sa.Column("agent_session_id", sa.Text, primary_key=True),
        sa.Column("session_id", sa.Text, reference, nullable=False),
        sa.Column("context_from_idx", sa.Integer, nullable=False),
        sa.Column("is_open", sa.Boolean, nullable=False),
        sa.Column("news_at", Instant),
        sa.Column("transcript_path", sa.Text),
        sa.Column("created_at", Instant, nullable=False),
    )
    op.create_index(
        "agent_sessions_by_session", "agent_sessions", ["session_id", "context_from_idx"]
    )
