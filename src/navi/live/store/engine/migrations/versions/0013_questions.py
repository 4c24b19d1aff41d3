"""Questions that only a person can decide.

Revision ID: 0013
"""

import sqlalchemy as sa
from alembic import op

from navi.live.store.engine.tables import Instant, Json

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", sa.Column("waiting_for", sa.Text))
    op.create_table(
        "questions",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column(
            "session_id",
            sa.Text,
            sa.ForeignKey("sessions.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("turn_id", sa.Text),
        sa.Column("call_id", sa.Text, nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("tool_name", sa.Text),
        sa.Column("tool_input", Json),
        sa.Column("risk", sa.Text),
        sa.Column("risk_reason", sa.Text),
        sa.Column("options", Json, nullable=False),
        sa.Column("allow_free_text", sa.Boolean, nullable=False),
        sa.Column("allow_several", sa.Boolean, nullable=False),
        sa.Column("takes_updated_input", sa.Boolean, nullable=False),
        sa.Column("suggestions", Json, nullable=False),
        sa.Column("outlives_turn", sa.Boolean, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("default_answer", Json, nullable=False),
        sa.Column("answer", Json),
        sa.Column("answered_by", sa.Text),
        sa.Column("answered_via", sa.Text),
        sa.Column("deadline_at", Instant),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("answered_at", Instant),
    )
    op.create_index("questions_by_session", "questions", ["session_id", "created_at"])
    is_open = sa.text("state = 'open'")
    for name, column in (("questions_open", "session_id"), ("questions_due", "deadline_at")):
        op.create_index(name, "questions", [column], sqlite_where=is_open, postgresql_where=is_open)
