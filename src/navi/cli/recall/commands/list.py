"""`recall list`: list sessions, newest first."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from navi.base.control_characters import one_line
from navi.base.secrets.masking import masked as mask
from navi.cli import formats, output
from navi.cli.recall.options import (
    TagName,
    clock,
    json_option,
    project_option,
    since_option,
    source_option,
    until_option,
)
from navi.cli.table import Column

if TYPE_CHECKING:
    from navi.memory.read.session_list import SessionFilters, SessionList

DEFAULT_LIMIT = 50
WIDE = 100
"""Terminal columns needed for whole ids."""
SHORT_ID = 8


@click.command(
    "list",
    help="List sessions, newest first.",
    epilog="\b\nExamples:\n"
    "  recall list --project . --since monday\n"
    "  recall list --source codex --limit 0 --json",
)
@source_option
@since_option
@until_option
@project_option
@click.option("--tag", type=TagName(), help="Only sessions with this tag.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    default=DEFAULT_LIMIT,
    show_default=True,
    help="Maximum number to list; 0 for all.",
)
@click.option("--count", "only_count", is_flag=True, help="Print only the number of matches.")
@json_option
def command(
    source: str | None,
    since: datetime | None,
    until: datetime | None,
    project: str | None,
    tag: str | None,
    limit: int,
    only_count: bool,
    as_json: bool,
) -> None:
    from navi.cli.recall.filters import TagNotFound
    from navi.cli.recall.freshness import bring_up_to_date
    from navi.memory.index_paths import places
    from navi.memory.read.session_list import SessionFilters, SessionList

    where = places()
    bring_up_to_date(where)
    session_list = SessionList(where)
    if tag is not None and tag not in session_list.tags():
        raise TagNotFound(tag, session_list.tags())
    filters = SessionFilters(source, since, project, tag, until)
    if only_count:
        output.say(str(session_list.total(filters)))
        return
    sessions = session_list.sessions(filters, limit or None)
    for session in sessions:
        session["title"] = mask(session["title"])
    if as_json:
        output.say_json(sessions)
    elif sessions:
        _show(sessions, clock().now())
    else:
        _explain(session_list, filters)
    if limit and len(sessions) == limit and (total := session_list.total(filters)) > limit:
        output.note(f"{limit} of {total:,} sessions; --limit 0 for all")


def _explain(session_list: SessionList, filters: SessionFilters) -> None:
    from navi.cli.recall.filters import NOTHING_INDEXED, reason

    if session_list.total() == 0:
        output.note(NOTHING_INDEXED)
    else:
        output.note(reason(filters, session_list.total, session_list))


def _show(sessions: list[dict[str, Any]], now: datetime) -> None:
    width = output.width()
    id_length = SHORT_ID if width is not None and width < WIDE else None
    moments = [moment for each in sessions if (moment := _latest(each)) is not None]
    zones = {f"{moment.astimezone():%Z}" for moment in moments}
    zone = zones.pop() if len(zones) == 1 else "local"
    output.table(
        [
            Column("ID", style="cyan"),
            Column("AGE", is_number=True),
            Column(f"LATEST ({zone})", rank=3, style="dim"),
            Column("SOURCE", rank=1),
            Column("MSGS", is_number=True, rank=2),
            Column("TOOLS", is_number=True, rank=4),
            Column("PROJECT", needed_width=16, keeps_end=True, style="dim"),
            Column("TITLE", needed_width=24),
        ],
        [_row(each, now, id_length) for each in sessions],
    )


def _row(session: dict[str, Any], now: datetime, id_length: int | None) -> list[str]:
    latest = _latest(session)
    marks = ["sub-agent"] * session["is_subagent"] + ["file gone"] * session["is_archived"]
    marks += ["incomplete"] * (not session["is_complete"])
    # In front of the title, so that they are not cut off.
    labels = [*(f"[{mark}]" for mark in marks), *(f"#{tag}" for tag in session["tags"])]
    return [
        session["id"][:id_length],
        formats.age(latest, now),
        "" if latest is None else f"{latest.astimezone():%Y-%m-%d %H:%M}",
        formats.source(session["source"]),
        f"{session['message_count']:,}",
        f"{session['tool_count']:,}",
        formats.home_short(session["project"] or ""),
        " ".join([*labels, one_line(session["title"] or "")]),
    ]


def _latest(session: dict[str, Any]) -> datetime | None:
    latest = session["ended_at"] or session["started_at"]
    return None if latest is None else datetime.fromisoformat(latest)
