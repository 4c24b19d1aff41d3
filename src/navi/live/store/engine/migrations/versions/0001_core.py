"""Sessions, their inputs, turns, events and messages; users.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

from navi.live.store.engine.tables import Counter, Instant

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "users",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("token_sha256", sa.Text, unique=True),
        sa.Column("info", sa.JSON, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
    )
    op.create_table(
        "sessions",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("driver", sa.Text, nullable=False),
        sa.Column("model", sa.Text),
        sa.Column("cwd", sa.Text, nullable=False),
        sa.Column("parent_id", sa.Text),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("task", sa.Text),
        sa.Column("agent_status_text", sa.Text),
        sa.Column("agent_status_at", Instant),
        sa.Column("context_from_idx", sa.Integer, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
    )
    op.create_index("sessions_by_user", "sessions", ["user_id", "updated_at"])
    op.create_index("sessions_by_parent", "sessions", ["parent_id"])
    op.create_table(
        "lanes",
        _session_id(primary_key=True),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("last_seq", Counter, nullable=False),
        sa.Column("next_idx", sa.Integer, nullable=False),
        sa.Column("next_ordinal", sa.Integer, nullable=False),
        sa.Column("fence", sa.Integer, nullable=False),
        sa.Column("turn_id", sa.Text),
        sa.Column("owner", sa.Text),
        sa.Column("lease_until", Instant),
        postgresql_with={"fillfactor": 70},
    )
    _partial_index("lanes_running", "lanes", ["turn_id"], "turn_id IS NOT NULL")
    op.create_table(
        "message_queue",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("delivery_mode", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("sender_session_id", sa.Text),
        sa.Column("remind_soft_threshold", sa.Integer),
        sa.Column("remind_hard_threshold", sa.Integer),
        sa.Column("notify_on_delivery", sa.Boolean, nullable=False),
        sa.Column("notify_on_stop", sa.Boolean, nullable=False),
        sa.Column("metadata", sa.JSON, nullable=False),
        sa.Column("queued_at", Instant, nullable=False),
        sa.Column("delivered_at", Instant),
        sa.Column("turn_id", sa.Text),
    )
    _partial_index(
        "message_queue_waiting",
        "message_queue",
        ["session_id", "ordinal"],
        "delivered_at IS NULL",
        unique=True,
    )
    _partial_index("message_queue_by_turn", "message_queue", ["turn_id"], "turn_id IS NOT NULL")
    op.create_table(
        "turns",
        sa.Column("id", sa.Text, primary_key=True),
        _session_id(),
        sa.Column("fence", sa.Integer, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("event_count", sa.Integer, nullable=False),
        sa.Column("stop_reason", sa.Text),
        sa.Column("outcome", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("message_id", sa.Text),
        sa.Column("input_tokens", sa.Integer, nullable=False),
        sa.Column("output_tokens", sa.Integer, nullable=False),
        sa.Column("cache_read_tokens", sa.Integer, nullable=False),
        sa.Column("cache_creation_tokens", sa.Integer, nullable=False),
        sa.Column("started_at", Instant, nullable=False),
        sa.Column("ended_at", Instant),
    )
    op.create_index("turns_by_session", "turns", ["session_id", "started_at"])
    op.create_table(
        "messages",
        sa.Column("id", sa.Text, primary_key=True),
        _session_id(),
        sa.Column("idx", sa.Integer, nullable=False),
        sa.Column("turn_id", sa.Text),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("thinking", sa.Text, nullable=False),
        sa.Column("tool_calls", sa.JSON, nullable=False),
        sa.Column("is_recall", sa.Boolean, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("metadata", sa.JSON, nullable=False),
        sa.Column("compacted_up_to", sa.Integer),
        sa.Column("timestamp", Instant, nullable=False),
        sa.UniqueConstraint("session_id", "idx"),
    )
    _partial_index(
        "messages_summaries", "messages", ["session_id", "idx"], "compacted_up_to IS NOT NULL"
    )
    op.create_index("messages_by_turn", "messages", ["turn_id"])
    op.create_table(
        "events",
        sa.Column("position", Counter, primary_key=True, autoincrement=False),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("seq", Counter, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("turn_id", sa.Text),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("payload", sa.JSON, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.UniqueConstraint("session_id", "seq"),
    )
    feed = op.create_table(
        "feed",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("last_position", Counter, nullable=False),
    )
    op.bulk_insert(feed, [{"id": 1, "last_position": 0}])


def _session_id(*, primary_key: bool = False) -> sa.Column[str]:
    reference = sa.ForeignKey("sessions.id", ondelete="CASCADE")
    return sa.Column("session_id", sa.Text, reference, nullable=False, primary_key=primary_key)


def _partial_index(
    name: str, table: str, columns: list[str], condition: str, *, unique: bool = False
) -> None:
    where = sa.text(condition)
    op.create_index(name, table, columns, unique=unique, sqlite_where=where, postgresql_where=where)
