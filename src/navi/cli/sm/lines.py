"""Sessions, inputs, reminders and recalls as text on one line."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from navi.base.control_characters import one_line
from navi.base.shortened_text import shortened
from navi.base.timestamps import describe_age

if TYPE_CHECKING:
    from navi.live.model.wire_format import (
        AdmissionJson,
        Json,
        RecallJson,
        SessionJson,
        UpcomingJson,
    )

LONGEST = 60
"""The most characters of a user's text on a line with other things."""

# Time formatting is imported where it is used, so that `sm status TEXT` starts quickly.


def named(session: SessionJson) -> str:
    """Its title and its id."""
    return f"{plain(session['title'], LONGEST)} ({session['id']})"


def status(session: SessionJson, now: datetime) -> str:
    """The agent's status and its age."""
    text, at = session["agent_status_text"], session["agent_status_at"]
    if text is None:
        return "(no status)"
    age = "" if at is None else f" ({describe_age(datetime.fromisoformat(at), now)})"
    return f'"{plain(text)}"{age}'


def status_text(session: SessionJson) -> str:
    """The agent's status without its age."""
    text = session["agent_status_text"]
    return "(no status)" if text is None else f'"{plain(text)}"'


def cells(session: SessionJson, now: datetime, timezone: tzinfo) -> list[str]:
    """A session in an overview."""
    row = [named(session), session["state"], status(session, now)]
    if (recall := session["pending_recall"]) is not None:
        task = plain(recall["additional_context_message"], LONGEST)
        row.append(f"{wakes(recall, now, timezone)}: {task}")
    return row


def admitted(session: SessionJson, admission: AdmissionJson) -> str:
    if admission["status"] == "delivered":
        return f"delivered to {named(session)}"
    before = admission["position"]
    return f"queued for {named(session)}" + (f", {before} ahead of it" if before else "")


def reminding(admission: AdmissionJson, now: datetime, timezone: tzinfo) -> str:
    """When the agent is reminded if it does not report."""
    from navi.base.time_expressions import describe_moment

    soft, hard = admission["remind_soft_threshold"], admission["remind_hard_threshold"]
    assert soft is not None
    assert hard is not None
    when = f"{length(soft)} after delivery"
    if admission["status"] == "delivered":
        at = describe_moment(now + timedelta(seconds=soft), timezone)
        when = f"in {length(soft)}, {at}"
    return f"reminder: asks for its status {when}; interrupts {length(hard - soft)} later"


def upcoming(
    each: UpcomingJson, titles: Mapping[str, str], now: datetime, timezone: tzinfo
) -> list[str]:
    """A row in the table of upcoming reminders."""
    text = "asks for its status" if each["message"] is None else plain(each["message"], LONGEST)
    title = plain(titles.get(each["session_id"], "?"), LONGEST)
    session = f"{title} ({each['session_id']})"
    return [each["id"], session, each["kind"], coming(each["due_at"], now, timezone), text]


def waiting(each: Json, now: datetime) -> list[str]:
    """A row in the table of queued inputs."""
    return [
        each["id"],
        each["delivery_mode"],
        sender(each, each["origin"]),
        describe_age(datetime.fromisoformat(each["queued_at"]), now),
        plain(each["text"], LONGEST),
    ]


def sender(message: Json, origin: str) -> str:
    """The sender of an input or message: a session, Navi itself, or its origin."""
    session = message["metadata"].get("sender")
    if session is not None:
        return f"{plain(session.get('title') or session['name'], LONGEST)} ({session['id']})"
    return "sm" if "notice" in message["metadata"] else origin


def wakes(recall: RecallJson, now: datetime, timezone: tzinfo) -> str:
    """`wakes in 30 min, …`"""
    verb = "wakes" if datetime.fromisoformat(recall["trigger_at"]) >= now else "was due"
    return f"{verb} {time_of(recall, now, timezone)}{then(recall)}"


def time_of(recall: RecallJson, now: datetime, timezone: tzinfo) -> str:
    """The distance is included only for a pending recall."""
    from navi.base.time_expressions import describe, describe_moment

    at = datetime.fromisoformat(recall["trigger_at"])
    is_pending = recall["status"] == "pending"
    return describe(at, now, timezone) if is_pending else describe_moment(at, timezone)


def coming(at: str, now: datetime, timezone: tzinfo) -> str:
    """`in 30 min, …`, locally and in UTC."""
    from navi.base.time_expressions import describe

    return describe(datetime.fromisoformat(at), now, timezone)


def distance(at: str, now: datetime) -> str:
    return coming(at, now, UTC).split(",")[0]


def stamp(at: str, timezone: tzinfo) -> str:
    """To the second."""
    return datetime.fromisoformat(at).astimezone(timezone).strftime("%Y-%m-%d %H:%M:%S")


def then(recall: RecallJson) -> str:
    """How a recurring recall continues."""
    seconds = recall["interval_seconds"]
    return "" if seconds is None else f", then every {length(seconds)}"


def interval(recall: RecallJson) -> str:
    seconds = recall["interval_seconds"]
    return recall["call_type"] if seconds is None else f"every {length(seconds)}"


def result(recall: RecallJson) -> str:
    """How it ended: failed, cancelled, missed."""
    parts = [recall["outcome"] or ""]
    if recall["error"]:
        parts.append(plain(recall["error"], LONGEST))
    if recall["missed_count"]:
        parts.append(f"{recall['missed_count']} missed")
    return ", ".join(part for part in parts if part) or "-"


def length(seconds: int) -> str:
    from navi.base.time_expressions import describe_length

    return describe_length(timedelta(seconds=seconds))


def plain(text: str, longest: int | None = None) -> str:
    """On one line, cut to `longest` characters."""
    line = one_line(text)
    return line if longest is None else shortened(line, longest)
