"""Reads the `jobs.json` of an older system, with names in camelCase, snake_case or both.

{"version": 1, "jobs": [{"id": …, "name": …, "enabled": …,
  "schedule": {"kind": "at"|"every"|"cron", "atMs", "everyMs", "expr", "tz"},
  "payload": {"kind": "agent_turn", "message", "sessionKey", "channel", "to", "channelMeta",
              "deliver"},
  "state": {"nextRunAtMs", "lastRunAtMs", "lastStatus", "lastError"},
  "createdAtMs": …, "updatedAtMs": …, "deleteAfterRun": …}]}
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from navi.base.errors import InvalidInput, NaviError
from navi.base.stored_text import require_storable
from navi.base.time_expressions import FURTHEST
from navi.live.model.scheduling.automation import (
    Automation,
    CatchUp,
    Ended,
    Guards,
    Kind,
    Target,
    require_message,
    require_name,
)
from navi.live.model.scheduling.schedule import (
    SHORTEST_EVERY_SECONDS,
    At,
    Every,
    Schedule,
    require_cron,
    require_every,
)

BUILT_IN_JOBS = {"heartbeat": Kind.HEARTBEAT, "dream": Kind.DREAM}
FIELD_LIMIT = 2_000
"""Characters in any text of a job except its message."""
META_LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class RefusedJob:
    """A job that can't be imported."""

    job: str
    reason: str


@dataclass(frozen=True, slots=True)
class Jobs:
    readable: list[Automation]
    refused: list[RefusedJob]
    notes: list[str]
    """Sentences about parts of the readable jobs that are not imported."""


def read_jobs(text: str, now: datetime, user_id: str, timezone_name: str) -> Jobs:
    """All jobs in the file, readable or refused. Raises InvalidInput if it isn't a jobs file."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"it is not JSON: {error}", hint="the file is unchanged") from error
    jobs = document.get("jobs") if isinstance(document, dict) else document
    if not isinstance(jobs, list):
        raise InvalidInput(
            "it has no list of jobs", hint='a jobs.json looks like {"version": 1, "jobs": [...]}'
        )
    readable: list[Automation] = []
    refused: list[RefusedJob] = []
    notes: list[str] = []
    ids: set[str] = set()
    for number, job in enumerate(jobs, start=1):
        try:
            automation = _automation(job, now, user_id, timezone_name)
            if automation.id in ids:
                raise InvalidInput("another job in the file has the same id")
        except NaviError as error:
            refused.append(RefusedJob(_label(job, number), error.sentence))
        else:
            ids.add(automation.id)
            readable.append(automation)
            notes += _notes(automation, job)
    return Jobs(readable, refused, notes)


def _automation(job: Any, now: datetime, user_id: str, timezone_name: str) -> Automation:
    fields = _fields(job, "the job")
    payload = _fields(fields.get("payload"), "its payload")
    state = _fields(fields.get("state") or {}, "its state")
    job_id = _text(fields, "id") or ""
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", job_id):
        raise InvalidInput(f"its id {job_id!r} can't be used")
    # Intervals are counted from this time, so it can't be in the future.
    created_at = min(_instant(fields, "created_at_ms") or now, now)
    kind = _kind(job_id, _text(payload, "kind") or Kind.AGENT_TURN.value)
    timing = _fields(fields.get("schedule"), "its schedule")
    schedule = _schedule(timing, created_at, now, timezone_name)
    is_on = fields.get("enabled", True) is not False
    next_run_at = _next_run(schedule, _instant(state, "next_run_at_ms"), now) if is_on else None
    message = _message(payload, kind)
    return Automation(
        id=job_id,
        user_id=user_id,
        name=require_name(_text(fields, "name") or job_id),
        kind=kind,
        session_key=_text(payload, "session_key") if kind is Kind.AGENT_TURN else None,
        schedule=schedule,
        message=message,
        enabled=next_run_at is not None,
        catch_up=CatchUp.ONCE,
        guards=Guards(),
        target=Target(
            channel=_text(payload, "channel"),
            to=_text(payload, "to"),
            channel_meta=_meta(payload),
            deliver=payload.get("deliver") is True,
        ),
        next_run_at=next_run_at,
        created_at=created_at,
        updated_at=now,
        last_run_at=_instant(state, "last_run_at_ms"),
        last_status=_text(state, "last_status"),
        last_error=_text(state, "last_error", shortens=True),
        ended=Ended.DONE if is_on and next_run_at is None else None,
    )


def _kind(job_id: str, text: str) -> Kind:
    if job_id in BUILT_IN_JOBS:
        return BUILT_IN_JOBS[job_id]
    try:
        return Kind(text)
    except ValueError as error:
        raise InvalidInput(f"its kind {text!r} is unknown") from error


def _message(payload: Mapping[str, Any], kind: Kind) -> str:
    message = _text(payload, "message", None) or _text(payload, "text", None) or ""
    # Only system jobs need no message.
    return require_message(message) if message or kind is Kind.AGENT_TURN else message


def _meta(payload: Mapping[str, Any]) -> dict[str, Any]:
    meta = _fields(payload.get("channel_meta") or {}, "its channel_meta")
    require_storable("its channel_meta", json.dumps(meta, ensure_ascii=False), META_LIMIT)
    return meta


def _schedule(
    fields: Mapping[str, Any], created_at: datetime, now: datetime, timezone_name: str
) -> Schedule:
    kind = _text(fields, "kind")
    if kind == "at" and (at := _instant(fields, "at_ms")) is not None:
        if at - now > FURTHEST:
            raise InvalidInput("its time is more than 10 years ahead")
        return At(at, timezone_name)
    if kind == "every" and (milliseconds := _number(fields, "every_ms")) is not None:
        # A coarser interval is better than none.
        seconds = max(SHORTEST_EVERY_SECONDS, (round(milliseconds) + 500) // 1000)
        return Every(require_every("its interval", seconds), created_at)
    if kind == "cron" and (expr := _text(fields, "expr")) is not None:
        return require_cron(expr, _text(fields, "tz") or timezone_name, now)
    raise InvalidInput("its schedule is not at, every or cron, or has no time")


def _next_run(schedule: Schedule, planned: datetime | None, now: datetime) -> datetime | None:
    """When the job runs next; None if never. An overdue one-off job keeps its time if it was
    still planned."""
    if isinstance(schedule, At):
        return schedule.at if planned is not None or schedule.at > now else None
    return schedule.next_after(now)


def _fields(value: Any, subject: str) -> dict[str, Any]:
    """The object with its names in snake_case. `subject` names it in an error."""
    if not isinstance(value, dict):
        raise InvalidInput(f"{subject} is not an object")
    return {
        re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower(): item for name, item in value.items()
    }


def _text(
    fields: Mapping[str, Any],
    name: str,
    longest: int | None = FIELD_LIMIT,
    *,
    shortens: bool = False,
) -> str | None:
    value = fields.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise InvalidInput(f"its {name} is not text")
    return require_storable(f"its {name}", value[:longest] if shortens else value, longest)


def _number(fields: Mapping[str, Any], name: str) -> float | None:
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"its {name} is not a number")
    if not 0 < value < math.inf:
        raise InvalidInput(f"its {name} is not a number above 0")
    return value


def _instant(fields: Mapping[str, Any], name: str) -> datetime | None:
    milliseconds = _number(fields, name)
    try:
        return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(f"its {name} is not a valid time") from error


def _label(job: Any, number: int) -> str:
    name = (job.get("name") or job.get("id")) if isinstance(job, dict) else None
    if not isinstance(name, str):
        return f"job {number}"
    return f"job {number} ({name[:60].encode(errors='replace').decode()})"


def _notes(automation: Automation, job: Mapping[str, Any]) -> Iterator[str]:
    fields = _fields(job, "the job")
    name = automation.name
    if automation.is_built_in and fields.get("enabled", True) is not False:
        yield f"{name} is built into Navi: the setting [automations] {automation.kind} enables it"
    if fields.get("delete_after_run") is True and isinstance(automation.schedule, At):
        yield (
            f"{name}: deleteAfterRun is ignored. After its run it stays listed as done; "
            f"`sm automation remove {automation.id}` removes it"
        )
