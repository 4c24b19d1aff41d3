"""The rows of a store, read without Navi's code."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, TypeVar

import psycopg

try:
    import pysqlite3 as sqlite
except ImportError:
    import sqlite3 as sqlite

SERVER_STOPPED = "the server stopped during this turn"
NOTHING_TO_DO = "there was nothing to do"
QUEUED = "input_queued"
REMOVED = "input_removed"
DELIVERED = "input_delivered"

LEAD = timedelta(seconds=1)
"""How long before its instant anything may be admitted."""
SOON = timedelta(seconds=10)
"""A store counts as being at rest if nothing is due within this time."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    id: str
    state: str


@dataclass(frozen=True, slots=True)
class InputRow:
    id: str
    session_id: str
    ordinal: int
    text: str
    delivery_mode: str
    origin: str
    metadata: Mapping[str, Any]
    queued_at: datetime
    not_before: datetime | None
    delivered_at: datetime | None
    turn_id: str | None

    @property
    def place(self) -> tuple[datetime, int]:
        """Where it stands among the inputs of its mode: by its instant, then by admission."""
        return self.not_before or self.queued_at, self.ordinal

    @property
    def due_at(self) -> datetime:
        """The instant that it waits for; only recalls, automations and reminders have one."""
        assert self.not_before is not None
        return self.not_before

    @property
    def is_made_by_navi(self) -> bool:
        """Admitted by Navi itself: a recall, a run, a reminder, an answer, or a notice."""
        origins = ("recall", "automation", "reminder", "answer")
        return self.origin in origins or "notice" in self.metadata


@dataclass(frozen=True, slots=True)
class TurnRow:
    id: str
    session_id: str
    fence: int
    event_count: int
    stop_reason: str | None
    outcome: str | None
    error: str | None
    message_id: str | None
    started_at: datetime
    ended_at: datetime | None

    @property
    def has_lost_its_server(self) -> bool:
        return self.outcome == "error" and self.error == SERVER_STOPPED

    @property
    def died_empty(self) -> bool:
        """Its server died before its first output, so it does not count."""
        return self.event_count == 0 and self.has_lost_its_server

    @property
    def was_given_back(self) -> bool:
        """It left no message. Its input waits again, or is gone because there was nothing to do."""
        is_idle = self.outcome == "error" and self.error == NOTHING_TO_DO
        return self.died_empty or (self.event_count == 0 and is_idle)


@dataclass(frozen=True, slots=True)
class EventRow:
    position: int
    session_id: str
    seq: int
    turn_id: str | None
    type: str
    payload: Mapping[str, Any]

    @property
    def input_id(self) -> str:
        return str(self.payload["input"]["id"])


@dataclass(frozen=True, slots=True)
class MessageRow:
    id: str
    session_id: str
    idx: int
    turn_id: str | None
    role: str
    content: str
    metadata: Mapping[str, Any]

    @property
    def is_notice(self) -> bool:
        """Added outside of any turn."""
        return self.turn_id is None and self.role != "user"


@dataclass(frozen=True, slots=True)
class LaneRow:
    session_id: str
    last_seq: int
    next_idx: int
    next_ordinal: int
    fence: int
    turn_id: str | None
    owner: str | None
    lease_until: object


@dataclass(frozen=True, slots=True)
class RecallRow:
    id: str
    session_id: str
    due_at: datetime
    trigger_at: datetime
    interval_seconds: int | None
    additional_context_message: str
    status: str
    outcome: str | None
    error: str | None
    missed_count: int
    updated_at: datetime
    input_id: str | None

    @property
    def interval(self) -> timedelta:
        return timedelta(seconds=self.interval_seconds or 0)


@dataclass(frozen=True, slots=True)
class AutomationRow:
    id: str
    name: str
    kind: str
    schedule_kind: str
    at: datetime | None
    every_seconds: int | None
    anchor_at: datetime | None
    cron_expr: str | None
    enabled: bool
    ended: str | None
    max_runs: int | None
    expires_at: datetime | None
    next_run_at: datetime | None
    held_at: datetime | None
    last_run_at: datetime | None
    last_status: str | None
    run_count: int
    missed_count: int
    created_at: datetime
    active_run_state: str | None
    to: str | None
    """The session that an unbound automation delivers to."""

    @property
    def is_own(self) -> bool:
        """Navi's own: it runs only if it has something to do."""
        return self.kind != "agent_turn"


@dataclass(frozen=True, slots=True)
class RunRow:
    id: str
    automation_id: str
    session_id: str
    state: str
    due_at: datetime
    queued_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    prompt_ref: Mapping[str, Any] | None
    rendered_prompt: str | None
    error: str | None
    response_message_id: str | None
    missed_count: int
    delivery: str | None


@dataclass(frozen=True)
class Ledger:
    """A whole store at one moment, each kind of row in its own order."""

    sessions: list[SessionRow]
    inputs: list[InputRow]
    turns: list[TurnRow]
    events: list[EventRow]
    messages: list[MessageRow]
    lanes: list[LaneRow]
    recalls: list[RecallRow]
    automations: list[AutomationRow]
    runs: list[RunRow]
    last_position: int

    @cached_property
    def turns_by_id(self) -> dict[str | None, TurnRow]:
        return {turn.id: turn for turn in self.turns}

    @cached_property
    def inputs_by_id(self) -> dict[str | None, InputRow]:
        return {row.id: row for row in self.inputs}

    @cached_property
    def events_by_session(self) -> dict[str, list[EventRow]]:
        return grouped(self.events, lambda event: event.session_id)

    @cached_property
    def removed_ids(self) -> set[str]:
        """The inputs that were taken out of their queues."""
        return {event.payload["input_id"] for event in self.events if event.type == REMOVED}

    @property
    def beats(self) -> list[InputRow]:
        """The inputs that recalls became."""
        return [row for row in self.inputs if row.origin == "recall"]

    def beats_of(self, recall: RecallRow) -> list[InputRow]:
        beats = (beat for beat in self.beats if beat.metadata.get("recall_id") == recall.id)
        return sorted(beats, key=lambda beat: beat.due_at)

    def runs_of(self, automation: AutomationRow) -> list[RunRow]:
        return [run for run in self.runs if run.automation_id == automation.id]

    def events_of(self, session_id: str) -> list[EventRow]:
        return self.events_by_session.get(session_id, [])

    def turn_of(self, input_id: str) -> TurnRow | None:
        """The turn that counts for this input; None while it waits."""
        return self.turns_by_id.get(self.inputs_by_id[input_id].turn_id)

    def answers_in(self, session_id: str) -> list[str]:
        return [
            message.content
            for message in self.messages
            if (message.session_id, message.role) == (session_id, "assistant")
        ]


Query = Callable[[str], list[tuple[Any, ...]]]
Row = TypeVar("Row")
Key = TypeVar("Key", bound=Hashable)


def read(database_url: str) -> Ledger:
    with snapshot(database_url) as query:
        ((last_position,),) = query("SELECT last_position FROM feed")
        return Ledger(
            sessions=_rows(query, SessionRow, "sessions", "id"),
            inputs=_rows(query, InputRow, "message_queue", "session_id, ordinal"),
            turns=_rows(query, TurnRow, "turns", "session_id, fence"),
            events=_rows(query, EventRow, "events", "position"),
            messages=_rows(query, MessageRow, "messages", "session_id, idx"),
            lanes=_rows(query, LaneRow, "lanes", "session_id"),
            recalls=_rows(query, RecallRow, "session_recalls", "session_id, created_at, id"),
            automations=_rows(query, AutomationRow, "automations", "created_at, id"),
            runs=_rows(query, RunRow, "automation_runs", "automation_id, due_at"),
            last_position=last_position,
        )


OPEN = (
    "message_queue WHERE delivered_at IS NULL",
    "lanes WHERE turn_id IS NOT NULL",
    "automation_runs WHERE state IN ('queued', 'running') OR delivery = 'pending'",
)
DUE = (
    # A recall that names an input is skipped: at rest that input is gone.
    "SELECT due_at FROM session_recalls WHERE status = 'pending' AND input_id IS NULL",
    "SELECT due_at FROM scheduled_reminders WHERE status = 'pending'",
    "SELECT next_run_at FROM automations WHERE kind = 'agent_turn' AND next_run_at IS NOT NULL",
)


def progress(database_url: str) -> tuple[int, bool]:
    """How far the events have got, and whether nothing waits, runs, is due or undelivered."""
    with snapshot(database_url) as query:
        ((position,),) = query("SELECT last_position FROM feed")
        is_open = any(query(f"SELECT 1 FROM {rows} LIMIT 1") for rows in OPEN)
        due = [_instant(at) for statement in DUE for (at,) in query(statement)]
    soon = datetime.now(UTC) + SOON
    return position, not is_open and all(at > soon for at in due)


def open_file(database_url: str) -> Any:
    """A connection to a SQLite store that begins and ends no transaction by itself."""
    path = database_url.removeprefix("sqlite:///")
    return sqlite.connect(f"file:{path}?mode=rw", uri=True, isolation_level=None, timeout=30)


@contextmanager
def snapshot(database_url: str) -> Iterator[Query]:
    """Queries that all see the same moment."""
    if not database_url.startswith("sqlite:"):
        with psycopg.connect(database_url) as server:
            server.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            yield lambda query: server.execute(query.encode()).fetchall()
        return
    with closing(open_file(database_url)) as file:
        file.execute("BEGIN")
        yield lambda query: file.execute(query).fetchall()


def grouped(rows: Iterable[Row], key: Callable[[Row], Key]) -> dict[Key, list[Row]]:
    groups: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def wire_time(moment: datetime) -> str:
    """The format of events and metadata: with milliseconds."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _rows(query: Query, row_type: Callable[..., Row], table: str, order: str) -> list[Row]:
    columns = fields(row_type)  # type: ignore[arg-type]
    names = ", ".join(f'"{column.name}"' for column in columns)
    converters = [_converter(str(column.type)) for column in columns]
    return [
        row_type(*(convert(value) for convert, value in zip(converters, values, strict=True)))
        for values in query(f"SELECT {names} FROM {table} ORDER BY {order}")
    ]


def _converter(annotation: str) -> Callable[[Any], Any]:
    """PostgreSQL returns instants and JSON as values, SQLite as text."""
    if "datetime" in annotation:
        return _instant
    if "Mapping" in annotation:
        return lambda value: json.loads(value) if isinstance(value, str) else value
    return lambda value: value


def _instant(value: Any) -> Any:
    if value is None:
        return None
    return parse_time(value) if isinstance(value, str) else value.astimezone(UTC)
