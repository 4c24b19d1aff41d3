"""Sessions, inputs, reminders and recalls as text on one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from navi.base.control_characters import one_line
from navi.base.shortened_text import shortened
from navi.base.timestamps import describe_age

if TYPE_CHECKING:
    from navi.live.model.wire_format import (
        AdmissionJson,
        AgendaJson,
        Json,
        PauseJson,
        RecallJson,
        SessionJson,
        UpcomingJson,
    )

LONGEST = 60
"""How many characters of a user's text to show on a line with other things."""

# Time formatting is imported where it is used so that `sm status TEXT` starts quickly.


def title_and_id(session: SessionJson) -> str:
    """`build the docs (1f2e3d4c5b6a7988)`"""
    return f"{plain(session['title'], LONGEST)} ({session['id']})"


def candidate(session: SessionJson, now: datetime) -> str:
    """`build the docs (1f2e3d4c5b6a7988; idle, active 2h ago)`"""
    active = describe_age(datetime.fromisoformat(session["updated_at"]), now)
    title = plain(session["title"], LONGEST)
    return f"{title} ({session['id']}; {session['state']}, active {active})"


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


def limit(session: SessionJson, now: datetime, timezone: tzinfo) -> str | None:
    """`limit until 15:00` while inputs wait for a usage limit; `Mon 15:00` if that is not today."""
    text = session["limit_until"]
    if text is None or (until := datetime.fromisoformat(text)) <= now:
        return None
    local = until.astimezone(timezone)
    is_today = local.date() == now.astimezone(timezone).date()
    return f"limit until {local.strftime('%H:%M' if is_today else '%a %H:%M')}"


def next_event(entry: AgendaJson, now: datetime) -> str:
    """`in 30 min: Read build.log`"""
    when = time_left(entry["at"], now)
    if is_due(entry, now):
        when = "now" if entry["waits_for"] is None else f"waits for its {entry['waits_for']}"
    return f"{when}: {plain(entry['title'], LONGEST)}"


def is_due(entry: AgendaJson, now: datetime) -> bool:
    return datetime.fromisoformat(entry["at"]) <= now


def held_by_terminals(agenda: Sequence[AgendaJson], now: datetime) -> str | None:
    """Explain that due entries wait for sessions in terminals; None if there are none."""
    titles = dict.fromkeys(
        plain(entry["session_title"], LONGEST)
        for entry in agenda
        if entry["waits_for"] is not None and is_due(entry, now)
    )
    if not titles:
        return None
    return (
        f"open in a terminal: {', '.join(titles)}; due entries begin when you quit the "
        "agent there, or when your next turn ends"
    )


def agenda_row(entry: AgendaJson, now: datetime, timezone: tzinfo) -> list[str]:
    """A row in the agenda."""
    return [
        datetime.fromisoformat(entry["at"]).astimezone(timezone).strftime("%a %Y-%m-%d %H:%M"),
        time_left(entry["at"], now),
        entry["kind"],
        plain(entry["session_title"]),
        plain(entry["title"]),
        entry["session_id"],
    ]


def delivery(session: SessionJson, admission: AdmissionJson) -> str:
    if admission["status"] == "delivered":
        return f"delivered to {title_and_id(session)}"
    ahead = admission["position"]
    return f"queued for {title_and_id(session)}" + (f", {ahead} ahead of it" if ahead else "")


def pause(paused: PauseJson) -> str:
    """Why a message waits for a budget, and how to raise that budget."""
    scope, _, owner = paused["budget"].partition(":")
    which = {"session": owner, "automation": f"--automation {owner}"}.get(scope, "--day")
    return (
        f"it waits: {plain(paused['reason'])}\n"
        f"`sm budget {which} AMOUNT` raises the budget; you can also answer the question "
        "in `sm inbox`"
    )


def reminder_plan(admission: AdmissionJson, now: datetime, timezone: tzinfo) -> str:
    """When the agent will be reminded if it does not report."""
    from navi.base.time_expressions import describe_moment

    soft, hard = admission["remind_soft_threshold"], admission["remind_hard_threshold"]
    assert soft is not None
    assert hard is not None
    when = f"{duration(soft)} after delivery"
    if admission["status"] == "delivered":
        at = describe_moment(now + timedelta(seconds=soft), timezone)
        when = f"in {duration(soft)}, {at}"
    return f"reminder: asks for its status {when}; interrupts {duration(hard - soft)} later"


def reminder_row(
    reminder: UpcomingJson, titles: Mapping[str, str], now: datetime, timezone: tzinfo
) -> list[str]:
    """A row in the table of upcoming reminders."""
    message = reminder["message"]
    title = plain(titles.get(reminder["session_id"], "?"), LONGEST)
    return [
        reminder["id"],
        f"{title} ({reminder['session_id']})",
        reminder["kind"],
        time_from_now(reminder["due_at"], now, timezone),
        "asks for its status" if message is None else plain(message, LONGEST),
    ]


def input_row(queued_input: Json, now: datetime) -> list[str]:
    """A row in the table of queued inputs."""
    return [
        queued_input["id"],
        queued_input["delivery_mode"],
        sender(queued_input, queued_input["origin"]),
        describe_age(datetime.fromisoformat(queued_input["queued_at"]), now),
        plain(queued_input["text"], LONGEST),
    ]


def sender(message: Json, origin: str) -> str:
    """Who sent an input or message: a session, `sm` for Navi itself, or else `origin`."""
    session = message["metadata"].get("sender")
    if session is not None:
        return f"{plain(session.get('title') or session['name'], LONGEST)} ({session['id']})"
    return "sm" if "notice" in message["metadata"] else origin


def wakes(recall: RecallJson, now: datetime, timezone: tzinfo) -> str:
    """`wakes in 30 min, …`"""
    verb = "wakes" if datetime.fromisoformat(recall["trigger_at"]) >= now else "was due"
    return f"{verb} {time_of(recall, now, timezone)}{repetition(recall)}"


def time_of(recall: RecallJson, now: datetime, timezone: tzinfo) -> str:
    """When the recall wakes its session and, if it is pending, how long until then."""
    from navi.base.time_expressions import describe, describe_moment

    at = datetime.fromisoformat(recall["trigger_at"])
    is_pending = recall["status"] == "pending"
    return describe(at, now, timezone) if is_pending else describe_moment(at, timezone)


def time_from_now(at: str, now: datetime, timezone: tzinfo) -> str:
    """`in 30 min, …`, in `timezone` and in UTC."""
    from navi.base.time_expressions import describe

    return describe(datetime.fromisoformat(at), now, timezone)


def time_left(at: str, now: datetime) -> str:
    """`in 30 min`"""
    return time_from_now(at, now, UTC).split(",")[0]


def local_time(at: str, timezone: tzinfo) -> str:
    """`2030-01-31 09:00:00`"""
    return datetime.fromisoformat(at).astimezone(timezone).strftime("%Y-%m-%d %H:%M:%S")


def repetition(recall: RecallJson) -> str:
    """`, then every 30 min`; empty for a recall that does not repeat."""
    seconds = recall["interval_seconds"]
    return "" if seconds is None else f", then every {duration(seconds)}"


def recall_type(recall: RecallJson) -> str:
    """`every 30 min`, or the type of a recall that does not repeat."""
    seconds = recall["interval_seconds"]
    return recall["call_type"] if seconds is None else f"every {duration(seconds)}"


def outcome(recall: RecallJson) -> str:
    """How the recall's last turn ended, and how often it was missed; `-` if neither applies."""
    parts = [recall["outcome"] or ""]
    if recall["error"]:
        parts.append(plain(recall["error"], LONGEST))
    if recall["missed_count"]:
        parts.append(f"{recall['missed_count']} missed")
    return ", ".join(part for part in parts if part) or "-"


def duration(seconds: int) -> str:
    from navi.base.time_expressions import describe_length

    return describe_length(timedelta(seconds=seconds))


def plain(text: str, longest: int | None = None) -> str:
    """The text on one line, cut to `longest` characters."""
    line = one_line(text)
    return line if longest is None else shortened(line, longest)
