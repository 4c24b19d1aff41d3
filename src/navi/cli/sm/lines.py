"""Sessions and recalls the way they look on a line."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from navi.domain.when import describe, describe_age, describe_length, describe_moment

if TYPE_CHECKING:
    from navi.domain.wire import RecallJson, SessionJson

LONGEST = 60
"""Characters of a text that somebody wrote, where it shares its line with other things."""


def named(session: SessionJson) -> str:
    return f"{plain(session['name'], LONGEST)} ({session['id']})"


def status(session: SessionJson, now: datetime) -> str:
    """What the agent says it does, and how long ago it said so."""
    text, at = session["agent_status_text"], session["agent_status_at"]
    if text is None:
        return "(no status)"
    age = "" if at is None else f" ({describe_age(datetime.fromisoformat(at), now)})"
    return f'"{plain(text)}"{age}'


def wakes(recall: RecallJson, now: datetime, timezone: tzinfo | None) -> str:
    """`wakes in 30 min, …`, in the given zone or else the machine's."""
    verb = "wakes" if datetime.fromisoformat(recall["trigger_at"]) >= now else "was due"
    return f"{verb} {time_of(recall, now, timezone)}{then(recall)}"


def time_of(recall: RecallJson, now: datetime, timezone: tzinfo | None) -> str:
    """With its distance only while it is still to come: one that was cancelled never will."""
    at = datetime.fromisoformat(recall["trigger_at"])
    zone = timezone or _local(at)
    return describe(at, now, zone) if recall["status"] == "pending" else describe_moment(at, zone)


def moment(at: str, now: datetime, timezone: tzinfo | None) -> str:
    """An instant as the wire has it, with its distance."""
    instant = datetime.fromisoformat(at)
    return describe(instant, now, timezone or _local(instant))


def distance(at: str, now: datetime) -> str:
    return moment(at, now, None).split(",")[0]


def stamp(at: str) -> str:
    """In the machine's zone, to the second."""
    return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def then(recall: RecallJson) -> str:
    """How a recurring recall goes on."""
    seconds = recall["interval_seconds"]
    return "" if seconds is None else f", then every {length(seconds)}"


def beat(recall: RecallJson) -> str:
    seconds = recall["interval_seconds"]
    return recall["call_type"] if seconds is None else f"every {length(seconds)}"


def result(recall: RecallJson) -> str:
    """How it ended, so that one that failed is told from one that was cancelled."""
    parts = [recall["outcome"] or ""]
    if recall["error"]:
        parts.append(plain(recall["error"], LONGEST))
    if recall["missed_count"]:
        parts.append(f"{recall['missed_count']} missed")
    return ", ".join(part for part in parts if part) or "-"


def length(seconds: int) -> str:
    return describe_length(timedelta(seconds=seconds))


def _local(moment: datetime) -> tzinfo:
    """The machine's zone as it is at that moment."""
    zone = moment.astimezone().tzinfo
    assert zone is not None
    return zone


def plain(text: str, longest: int | None = None) -> str:
    """On one line, and without characters that could steer a terminal."""
    shown = "".join(each for each in " ".join(text.split()) if each.isprintable())
    if longest is not None and len(shown) > longest:
        return shown[: longest - 1] + "…"
    return shown
