"""The tables, one definition for SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.types import TypeEngine

from navi.live.store.engine.dialects.registry import dialect_of

metadata = MetaData()


class Instant(TypeDecorator[datetime]):
    """An aware UTC instant: `timestamptz` in PostgreSQL, sortable ISO text in SQLite."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(dialect_of(dialect).instant_type)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        return dialect_of(dialect).instant_parameter(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        return moment.astimezone(UTC)


# Not JSONB, which refuses the NUL characters that tools may print.
Json = JSON(none_as_null=True)
# SQLite uses only INTEGER columns as row ids; PostgreSQL needs the wider type.
Counter = BigInteger().with_variant(Integer, "sqlite")


def session_reference() -> Column[str]:
    reference = ForeignKey("sessions.id", ondelete="CASCADE")
    return Column("session_id", Text, reference, nullable=False)


users = Table(
    "users",
    metadata,
    Column("id", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Column("token_sha256", Text, unique=True),
    Column("info", Json, nullable=False),
    Column("created_at", Instant, nullable=False),
)

# Browser logins. `owner_sha256` is the digest of the user's token: a login is valid as long as that
# token is.
logins = Table(
    "logins",
    metadata,
    Column("token_sha256", Text, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("owner_sha256", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("last_used_at", Instant, nullable=False),
)

login_codes = Table(
    "login_codes",
    metadata,
    Column("code_sha256", Text, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("expires_at", Instant, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("driver", Text, nullable=False),
    Column("model", Text),
    Column("cwd", Text, nullable=False),
    Column("parent_id", Text),
    Column("user_id", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("task", Text),
    Column("agent_status_text", Text),
    Column("agent_status_at", Instant),
    Column("context_from_idx", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    # The line from which an unnamed session gets its title, and the origin of that line.
    Column("opening", Text),
    Column("opening_origin", Text),
    # The program that runs in the session's pane; NULL for the default agent.
    Column("program", Text),
    # How its last turn ended; NULL before that.
    Column("last_outcome", Text),
    # When inputs that wait for a usage limit may continue; NULL if none waits for one.
    Column("limit_until", Instant),
    # Whether it has output that no person has seen, and people's marks on it.
    Column("unread", Boolean, nullable=False, server_default=false()),
    Column("pinned", Boolean, nullable=False, server_default=false()),
    Column("archived", Boolean, nullable=False, server_default=false()),
    Column("notify_person", Boolean, nullable=False, server_default=false()),
    # The id of its oldest open question; NULL if there is none.
    Column("waiting_for", Text),
    # What happens when its agent needs permission; NULL for the setting.
    Column("on_permission", Text),
    # How long its questions wait, 0 forever; NULL for the setting.
    Column("question_deadline_minutes", Integer),
    # The used-up budget that its inputs wait for, why, and when they may continue.
    Column("paused_by", Text),
    Column("pause_reason", Text),
    Column("paused_until", Instant),
    Index("sessions_by_user", "user_id", "updated_at"),
    Index("sessions_by_parent", "parent_id"),
)

# One narrow row per session: its only lock, and the counters of its events, messages and inputs.
# Kept apart from `sessions` because it changes with every batch of events.
lanes = Table(
    "lanes",
    metadata,
    Column("session_id", Text, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("last_seq", Counter, nullable=False),
    Column("next_idx", Integer, nullable=False),
    Column("next_ordinal", Integer, nullable=False),
    Column("fence", Integer, nullable=False),
    Column("turn_id", Text),
    Column("owner", Text),
    Column("lease_until", Instant),
    # Leave room on each page for updated rows, so that updates need not touch the indexes.
    postgresql_with={"fillfactor": 70},
)
Index(
    "lanes_running",
    lanes.c.turn_id,
    sqlite_where=lanes.c.turn_id.is_not(None),
    postgresql_where=lanes.c.turn_id.is_not(None),
)

# No foreign key to `sessions`: inserting requires the session's lane, and checking again would cost
# as much as the insert. Delivered inputs are indexed only by id and by turn.
message_queue = Table(
    "message_queue",
    metadata,
    Column("id", Text, primary_key=True),
    Column("session_id", Text, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("delivery_mode", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("sender_session_id", Text),
    Column("remind_soft_threshold", Integer),
    Column("remind_hard_threshold", Integer),
    Column("notify_on_delivery", Boolean, nullable=False),
    Column("notify_on_stop", Boolean, nullable=False),
    Column("metadata", Json, nullable=False),
    Column("prompt", Text),
    Column("queued_at", Instant, nullable=False),
    # The instant before which the input is not delivered; NULL means at once.
    Column("not_before", Instant),
    # The account whose usage limit the input waits for.
    Column("limit_account", Text),
    # The used-up budget that the input waits for.
    Column("budget", Text),
    Column("delivered_at", Instant),
    Column("turn_id", Text),
)
Index(
    "message_queue_waiting",
    message_queue.c.session_id,
    message_queue.c.ordinal,
    unique=True,
    sqlite_where=message_queue.c.delivered_at.is_(None),
    postgresql_where=message_queue.c.delivered_at.is_(None),
)
Index(
    "message_queue_by_turn",
    message_queue.c.turn_id,
    sqlite_where=message_queue.c.turn_id.is_not(None),
    postgresql_where=message_queue.c.turn_id.is_not(None),
)

# What is known about the usage limits of each account. Locked after the lanes.
account_limits = Table(
    "account_limits",
    metadata,
    Column("account", Text, primary_key=True),
    Column("agent", Text, nullable=False),
    # NULL for an account that all users share.
    Column("user_id", Text),
    # Its allowances, by kind: how much is used, and when they reset.
    Column("windows", Json, nullable=False),
    Column("kind", Text),
    # When the limit in force was met; NULL if none is in force.
    Column("limited_at", Instant),
    # When it resets, if the vendor has said so.
    Column("resets_at", Instant),
    # When the first input is tried again, and when the next waiting session may continue.
    Column("retry_at", Instant),
    Column("next_slot_at", Instant),
    Column("probes", Integer, nullable=False),
)

# The budgets of sessions, automations and users, and how much of them is used. `key` combines the
# scope and the owner. Locked after the lanes and accounts.
budgets = Table(
    "budgets",
    metadata,
    Column("key", Text, primary_key=True),
    Column("scope", Text, nullable=False),
    Column("owner_id", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("tokens", BigInteger),
    Column("dollars", Double),
    Column("daily", Boolean, nullable=False),
    Column("extra_tokens", BigInteger, nullable=False),
    Column("extra_dollars", Double, nullable=False),
    Column("used_tokens", BigInteger, nullable=False),
    Column("used_dollars", Double, nullable=False),
    Column("unpriced_turns", Integer, nullable=False),
    Column("unpriced_model", Text),
    # The day for which a daily budget counts.
    Column("day", Text),
    # When its inputs may continue; NULL if it is not used up.
    Column("paused_until", Instant),
    # The question that asks to raise it.
    Column("question_id", Text),
    Column("asks", Integer, nullable=False),
)

session_recalls = Table(
    "session_recalls",
    metadata,
    Column("id", Text, primary_key=True),
    session_reference(),
    Column("call_type", Text, nullable=False),
    Column("trigger_at", Instant, nullable=False),
    Column("due_at", Instant, nullable=False),
    Column("interval_seconds", Integer),
    Column("internal_comment", Text),
    Column("additional_context_message", Text, nullable=False),
    Column("scheduled_by", Text, nullable=False),
    Column("status", Text, nullable=False),
    # The input that the recall became. While this is set, the row is not claimed again.
    Column("input_id", Text),
    Column("outcome", Text),
    Column("error", Text),
    Column("missed_count", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Index("session_recalls_by_session", "session_id", "created_at"),
)
Index(
    "session_recalls_one_pending",
    session_recalls.c.session_id,
    unique=True,
    sqlite_where=session_recalls.c.status == "pending",
    postgresql_where=session_recalls.c.status == "pending",
)
_IS_UNCLAIMED = text("status = 'pending' AND input_id IS NULL")
Index(
    "session_recalls_due",
    session_recalls.c.trigger_at,
    sqlite_where=_IS_UNCLAIMED,
    postgresql_where=_IS_UNCLAIMED,
)

# Runs have their own table, so that these rows never grow.
automations = Table(
    "automations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("kind", Text, nullable=False),
    # NULL for automations that run in hidden sessions.
    Column("session_key", Text, ForeignKey("sessions.id", ondelete="CASCADE")),
    Column("schedule_kind", Text, nullable=False),
    Column("at", Instant),
    Column("every_seconds", Integer),
    Column("anchor_at", Instant),
    Column("cron_expr", Text),
    Column("tz", Text),
    Column("message", Text, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("catch_up", Text, nullable=False),
    Column("max_runs", Integer),
    Column("expires_at", Instant),
    Column("max_failures", Integer, nullable=False),
    Column("time_limit_seconds", Integer),
    Column("on_permission", Text),
    Column("question_deadline_minutes", Integer),
    Column("channel", Text),
    Column("to", Text),
    Column("channel_meta", Json),
    Column("deliver", Boolean, nullable=False),
    Column("next_run_at", Instant),
    Column("held_at", Instant),
    Column("last_run_at", Instant),
    Column("last_status", Text),
    Column("last_error", Text),
    Column("ended", Text),
    # The state of the run that is queued or running; NULL if there is none.
    Column("active_run_state", Text),
    Column("run_count", Integer, nullable=False),
    Column("failures_in_row", Integer, nullable=False),
    Column("missed_count", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Index("automations_by_session", "session_key"),
)
Index(
    "automations_due",
    automations.c.next_run_at,
    sqlite_where=automations.c.next_run_at.is_not(None),
    postgresql_where=automations.c.next_run_at.is_not(None),
)

# No foreign key to `automations`: transcripts may name runs of removed automations.
automation_runs = Table(
    "automation_runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("automation_id", Text, nullable=False),
    session_reference(),
    Column("user_id", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("due_at", Instant, nullable=False),
    Column("queued_at", Instant, nullable=False),
    Column("started_at", Instant),
    Column("ended_at", Instant),
    Column("prompt_ref", Json),
    Column("rendered_prompt", Text),
    Column("prompt_variables", Json),
    Column("error", Text),
    Column("response_message_id", Text),
    Column("missed_count", Integer, nullable=False),
    Column("delivery", Text),
    Column("outcome", Text),
    # The permission policy under which it ran.
    Column("policy", Json),
    Index("automation_runs_by_automation", "automation_id", "queued_at"),
    Index("automation_runs_by_session", "session_id"),
)
_IS_ACTIVE = automation_runs.c.state.in_(["queued", "running"])
# At most one active run per automation.
Index(
    "automation_runs_one_active",
    automation_runs.c.automation_id,
    unique=True,
    sqlite_where=_IS_ACTIVE,
    postgresql_where=_IS_ACTIVE,
)
Index(
    "automation_runs_to_deliver",
    automation_runs.c.ended_at,
    sqlite_where=automation_runs.c.delivery == "pending",
    postgresql_where=automation_runs.c.delivery == "pending",
)

# `due_at` follows from the other columns, unless a compaction postpones it. The scheduler searches
# by it.
remind_registrations = Table(
    "remind_registrations",
    metadata,
    Column("id", Text, primary_key=True),
    Column(
        "target_session_id", Text, ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False
    ),
    Column("soft_threshold_seconds", Integer, nullable=False),
    Column("hard_threshold_seconds", Integer, nullable=False),
    Column("registered_at", Instant, nullable=False),
    Column("last_reset_at", Instant, nullable=False),
    Column("soft_fired", Boolean, nullable=False),
    Column("hard_fired", Boolean, nullable=False),
    Column("is_active", Boolean, nullable=False),
    Column("due_at", Instant, nullable=False),
    Index("remind_registrations_by_target", "target_session_id"),
)
# SQLite has no booleans: SQLAlchemy's queries compare with `= 1`, so the index must do the same.
Index(
    "remind_registrations_one_active",
    remind_registrations.c.target_session_id,
    unique=True,
    sqlite_where=text("is_active = 1"),
    postgresql_where=text("is_active"),
)
Index(
    "remind_registrations_due",
    remind_registrations.c.due_at,
    sqlite_where=text("is_active = 1"),
    postgresql_where=text("is_active"),
)

scheduled_reminders = Table(
    "scheduled_reminders",
    metadata,
    Column("id", Text, primary_key=True),
    session_reference(),
    Column("message", Text, nullable=False),
    Column("fires_at", Instant, nullable=False),
    Column("due_at", Instant, nullable=False),
    Column("status", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Index("scheduled_reminders_by_session", "session_id"),
)
Index(
    "scheduled_reminders_due",
    scheduled_reminders.c.due_at,
    sqlite_where=scheduled_reminders.c.status == "pending",
    postgresql_where=scheduled_reminders.c.status == "pending",
)

# One row for each session whose agent is compacting its history right now.
compactions = Table(
    "compactions",
    metadata,
    Column("session_id", Text, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("began_at", Instant, nullable=False),
)

# `default_answer` is what the agent gets if nobody has answered by `deadline_at`.
questions = Table(
    "questions",
    metadata,
    Column("id", Text, primary_key=True),
    session_reference(),
    Column("turn_id", Text),
    Column("call_id", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("tool_name", Text),
    Column("tool_input", Json),
    Column("risk", Text),
    Column("risk_reason", Text),
    Column("options", Json, nullable=False),
    Column("allow_free_text", Boolean, nullable=False),
    Column("allow_several", Boolean, nullable=False),
    Column("takes_updated_input", Boolean, nullable=False),
    Column("suggestions", Json, nullable=False),
    Column("outlives_turn", Boolean, nullable=False),
    Column("state", Text, nullable=False),
    Column("default_answer", Json, nullable=False),
    Column("answer", Json),
    Column("answered_by", Text),
    Column("answered_via", Text),
    Column("deadline_at", Instant),
    Column("created_at", Instant, nullable=False),
    Column("answered_at", Instant),
    Index("questions_by_session", "session_id", "created_at"),
)
_IS_OPEN = questions.c.state == "open"
Index(
    "questions_open",
    questions.c.session_id,
    sqlite_where=_IS_OPEN,
    postgresql_where=_IS_OPEN,
)
Index(
    "questions_due",
    questions.c.deadline_at,
    sqlite_where=_IS_OPEN,
    postgresql_where=_IS_OPEN,
)

# Inbox items hidden from a person. `until` is NULL if only a new occurrence shows the item again.
inbox_snoozes = Table(
    "inbox_snoozes",
    metadata,
    Column("user_id", Text, primary_key=True),
    Column("item_id", Text, primary_key=True),
    Column("snoozed_at", Instant, nullable=False),
    Column("until", Instant),
)

# `due_at` is when to send the notification or to try again; while a server is sending it, when that
# server's claim ends. `attempts` is the fence of the claim.
notifications = Table(
    "notifications",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("session_id", Text, ForeignKey("sessions.id", ondelete="CASCADE")),
    Column("question_id", Text),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("importance", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text),
    # The digest in which it is sent.
    Column("digest_id", Text),
    Column("attempts", Integer, nullable=False),
    # The result on each channel.
    Column("deliveries", Json, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("due_at", Instant, nullable=False),
    Column("sent_at", Instant),
    Index("notifications_by_time", "created_at"),
    Index("notifications_by_session", "session_id"),
)
_IS_UNSENT = notifications.c.state == "waiting"
Index(
    "notifications_due",
    notifications.c.due_at,
    sqlite_where=_IS_UNSENT,
    postgresql_where=_IS_UNSENT,
)
Index(
    "notifications_by_digest",
    notifications.c.digest_id,
    sqlite_where=notifications.c.digest_id.is_not(None),
    postgresql_where=notifications.c.digest_id.is_not(None),
)

# Links in notifications, each of which may answer one question as one user.
answer_links = Table(
    "answer_links",
    metadata,
    Column("token_sha256", Text, primary_key=True),
    Column("question_id", Text, ForeignKey("questions.id", ondelete="CASCADE"), nullable=False),
    Column("user_id", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Index("answer_links_by_question", "question_id"),
)

turns = Table(
    "turns",
    metadata,
    Column("id", Text, primary_key=True),
    session_reference(),
    Column("fence", Integer, nullable=False),
    Column("origin", Text, nullable=False),
    Column("event_count", Integer, nullable=False),
    Column("stop_reason", Text),
    Column("outcome", Text),
    Column("error", Text),
    Column("message_id", Text),
    Column("input_tokens", Integer, nullable=False),
    Column("output_tokens", Integer, nullable=False),
    Column("cache_read_tokens", Integer, nullable=False),
    Column("cache_creation_tokens", Integer, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("ended_at", Instant),
    Index("turns_by_session", "session_id", "started_at"),
)

messages = Table(
    "messages",
    metadata,
    Column("id", Text, primary_key=True),
    session_reference(),
    Column("idx", Integer, nullable=False),
    Column("turn_id", Text),
    Column("role", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("thinking", Text, nullable=False),
    Column("tool_calls", Json, nullable=False),
    Column("is_recall", Boolean, nullable=False),
    Column("source", Text, nullable=False),
    Column("metadata", Json, nullable=False),
    Column("compacted_up_to", Integer),
    Column("timestamp", Instant, nullable=False),
    UniqueConstraint("session_id", "idx"),
)
Index(
    "messages_summaries",
    messages.c.session_id,
    messages.c.idx,
    sqlite_where=messages.c.compacted_up_to.is_not(None),
    postgresql_where=messages.c.compacted_up_to.is_not(None),
)

Index("messages_by_turn", messages.c.turn_id)

# Agents' own ids for sessions. A session gets another id when it is cleared.
agent_sessions = Table(
    "agent_sessions",
    metadata,
    Column("driver", Text, primary_key=True),
    Column("agent_session_id", Text, primary_key=True),
    session_reference(),
    Column("context_from_idx", Integer, nullable=False),
    # From the latest hook report, and its time: an older report never overrides a newer one.
    Column("is_open", Boolean, nullable=False),
    Column("news_at", Instant),
    Column("transcript_path", Text),
    Column("created_at", Instant, nullable=False),
    Index("agent_sessions_by_session", "session_id", "context_from_idx"),
)

# The tokens with which agents call the server.
session_tokens = Table(
    "session_tokens",
    metadata,
    Column("token_sha256", Text, primary_key=True),
    session_reference(),
    Column("created_at", Instant, nullable=False),
    Index("session_tokens_by_session", "session_id", "created_at"),
)

# Rows that could not be read, computed or carried out, kept for inspection.
set_aside = Table(
    "set_aside",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("row_id", Text, nullable=False),
    Column("session_id", Text),
    Column("error", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
)

# No foreign key to `sessions`: a deleted session's last event announces its deletion.
events = Table(
    "events",
    metadata,
    Column("position", Counter, primary_key=True, autoincrement=False),
    Column("session_id", Text, nullable=False),
    Column("seq", Counter, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("turn_id", Text),
    Column("type", Text, nullable=False),
    Column("payload", Json, nullable=False),
    Column("created_at", Instant, nullable=False),
    UniqueConstraint("session_id", "seq"),
)

# A single row. Its lock makes `position` follow the order of commits, without gaps.
feed = Table(
    "feed",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("last_position", Counter, nullable=False),
)
