"""Notifications, and the links in them that answer questions.

Revision ID: 0017
"""

import sqlalchemy as sa
from alembic import op

from navi.live.store.engine.tables import Instant, Json

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "notifications",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id", ondelete="CASCADE")),
        sa.Column("question_id", sa.Text),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("importance", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("digest_id", sa.Text),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("deliveries", Json, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("due_at", Instant, nullable=False),
        sa.Column("sent_at", Instant),
    )
    op.create_index("notifications_by_time", "notifications", ["created_at"])
    op.create_index("notifications_by_session", "notifications", ["session_id"])
    for name, column, condition in (
        ("notifications_due", "due_at", "state = 'waiting'"),
        ("notifications_by_digest", "digest_id", "digest_id IS NOT NULL"),
    ):
        where = sa.text(condition)
        op.create_index(name, "notifications", [column], sqlite_where=where, postgresql_where=where)
    op.create_table(
        "answer_links",
        sa.Column("token_sha256", sa.Text, primary_key=True),
        sa.Column(
            "question_id",
            sa.Text,
            sa.ForeignKey("questions.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
    )
    op.create_index("answer_links_by_question", "answer_links", ["question_id"])
