"""What `recall list` prints."""

from __future__ import annotations

from navi.cli import formats, output
from navi.cli.recall.masking import mask
from navi.index.catalogue import Wanted, sessions
from navi.index.places import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any


def show(
    source: str | None,
    since: datetime | None,
    project: str | None,
    tag: str | None,
    limit: int,
    as_json: bool,
) -> None:
    found = sessions(places(), Wanted(source, since, project, tag), limit or None)
    for each in found:
        each["title"] = mask(each["title"])
    if as_json:
        output.say_json(found)
        return
    if not found:
        output.note("no sessions; `recall index` reads the agents' files")
        return
    from navi.runtime.system_clock import SystemClock

    now = SystemClock().now()
    output.table(
        ["ID", "LATEST", "SOURCE", "MSGS", "TOOLS", "PROJECT", "TITLE"],
        [_row(each, now) for each in found],
    )


def _row(session: dict[str, Any], now: datetime) -> list[str]:
    from datetime import datetime

    marks = ["sub-agent"] * session["is_subagent"] + ["file gone"] * session["is_archived"]
    marks += ["incomplete"] * (not session["is_complete"])
    marks += [f"#{tag}" for tag in session["tags"]]
    latest = session["ended_at"] or session["started_at"]
    return [
        session["id"],
        formats.age(None if latest is None else datetime.fromisoformat(latest), now),
        formats.source(session["source"]),
        str(session["message_count"]),
        str(session["tool_count"]),
        formats.shortened(formats.home_short(session["project"] or ""), 40, keep_end=True),
        formats.shortened(session["title"] or "", 40) + " ".join(f" [{mark}]" for mark in marks),
    ]
