"""The table of sessions that `sm status` prints and `sm watch` draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from navi.base.timestamps import describe_age
from navi.cli.formats import count
from navi.cli.sm import inbox_lines, lines
from navi.cli.table import Column
from navi.live.model.attention import NEEDS_PERSON, Attention

if TYPE_CHECKING:
    from navi.client import Client
    from navi.live.model.wire_format import AgendaJson, QuestionJson, SessionJson

STYLES = {
    "waiting": "yellow",
    "failed": "red",
    "finished": "green",
    "running": "bold",
    "idle": "dim",
    "stopped": "dim",
}
# SESSION and STATE always stay. If there is no room, the other columns are dropped, ID first.
COLUMNS = (
    Column("SESSION", needed_width=12),
    Column("STATE", styles=STYLES),
    Column("ACTIVE", rank=1),
    Column("STATUS", needed_width=12, rank=2),
    Column("NEXT", needed_width=12, rank=3),
    Column("ID", rank=4, style="dim"),
)


def rows(
    sessions: Sequence[SessionJson],
    agenda: Sequence[AgendaJson],
    now: datetime,
    zone: tzinfo,
    questions: Mapping[str, QuestionJson],
) -> list[list[str]]:
    """A row for each session: first those that need a person, then those that are pinned."""
    next_entries: dict[str, AgendaJson] = {}
    for entry in agenda:
        next_entries.setdefault(entry["session_id"], entry)
    ordered = sorted(sessions, key=lambda each: (not needs_person(each), not each["pinned"]))
    return [
        _row(session, next_entries.get(session["id"]), now, zone, questions.get(session["id"]))
        for session in ordered
    ]


def open_questions(client: Client, sessions: Sequence[SessionJson]) -> dict[str, QuestionJson]:
    """The oldest open question of each waiting session, by the session's id."""
    if not any(session["waiting_for"] for session in sessions):
        return {}
    oldest_last = client.questions(state="open")
    return {question["session_id"]: question for question in oldest_last}


def needs_person(session: SessionJson) -> bool:
    return session["attention"] in NEEDS_PERSON


def is_listed(session: SessionJson) -> bool:
    """Whether lists show the session. They show an archived one only while it needs a person."""
    return not session["archived"] or needs_person(session)


def state(session: SessionJson, now: datetime, zone: tzinfo) -> str:
    """Why the session needs a person, or else its state; then marks such as `archived`."""
    if needs_person(session):
        words = [str(session["attention"])]
    else:
        words = [session["state"]]
    if (limit := lines.limit(session, now, zone)) is not None:
        words.append(limit)
    if session["paused"] is not None:
        words.append("paused by its budget")
    if session["attention"] == "unread":
        words.append("unread")
    if session["archived"]:
        words.append("archived")
    return ", ".join(words)


def summary(sessions: Sequence[SessionJson]) -> str:
    """`2 need you: 1 failed, 1 finished; 3 running; 42 sessions`"""
    counts = Counter(session["attention"] for session in sessions)
    reasons = [
        f"{counts[each]} {each}" for each in Attention if each in NEEDS_PERSON & counts.keys()
    ]
    total = sum(counts[each] for each in NEEDS_PERSON)
    parts = ["nothing needs you"]
    if reasons:
        parts = [f"{total} {'needs' if total == 1 else 'need'} you: {', '.join(reasons)}"]
    if running := sum(session["state"] == "running" for session in sessions):
        parts.append(f"{running} running")
    return "; ".join([*parts, count(len(sessions), "session")])


def _row(
    session: SessionJson,
    next_entry: AgendaJson | None,
    now: datetime,
    zone: tzinfo,
    question: QuestionJson | None,
) -> list[str]:
    return [
        lines.plain(session["title"]),
        state(session, now, zone),
        describe_age(datetime.fromisoformat(session["updated_at"]), now),
        _status(session, now) if question is None else inbox_lines.asks(question),
        "-" if next_entry is None else lines.next_event(next_entry, now),
        session["id"],
    ]


def _status(session: SessionJson, now: datetime) -> str:
    return "-" if session["agent_status_text"] is None else lines.status(session, now)
