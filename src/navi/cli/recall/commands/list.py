"""`recall list`: list sessions, newest first."""

from __future__ import annotations

from collections.abc import Container
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from navi.base.control_characters import one_line
from navi.base.secrets.masking import masked as mask
from navi.cli import formats, output
from navi.cli.recall.options import (
    TagName,
    clock,
    host_option,
    json_option,
    project_option,
    since_option,
    source_option,
    until_option,
)
from navi.cli.table import Column

if TYPE_CHECKING:
    from navi.memory.index_paths import IndexPaths
    from navi.memory.read.session_list import SessionFilters, SessionList

DEFAULT_LIMIT = 50
WHOLE_ID_WIDTH = 100
"""How wide a terminal must be to show whole ids."""
SHORT_ID_LENGTH = 8


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
@host_option
@click.option("--tag", type=TagName(), help="Only sessions with this tag.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    default=DEFAULT_LIMIT,
    show_default=True,
    help="Maximum number of sessions; 0 for all.",
)
@click.option("--count", "only_count", is_flag=True, help="Print only the number of matches.")
@json_option
def command(
    source: str | None,
    since: datetime | None,
    until: datetime | None,
    project: str | None,
    host: str | None,
    tag: str | None,
    limit: int,
    only_count: bool,
    as_json: bool,
) -> None:
    from navi.cli.recall.freshness import bring_up_to_date
    from navi.cli.recall.no_matches import TagNotFound, require_host
    from navi.memory.index_paths import index_paths
    from navi.memory.read.session_list import SessionFilters, SessionList

    paths = index_paths()
    bring_up_to_date(paths)
    session_list = SessionList(paths)
    if tag is not None and tag not in session_list.tags():
        raise TagNotFound(tag, session_list.tags())
    if host is not None:
        require_host(paths, session_list, host)
    filters = SessionFilters(source, since, project, tag, until, host)
    if only_count:
        output.say(str(session_list.total(filters)))
        return
    sessions = session_list.sessions(filters, limit or None)
    for session in sessions:
        session["title"] = mask(session["title"])
    if as_json:
        output.say_json(sessions)
    elif sessions:
        _show(sessions, clock().now(), _kept_ids(paths, sessions))
    else:
        _explain_no_sessions(session_list, filters)
    if limit and len(sessions) == limit and (total := session_list.total(filters)) > limit:
        output.note(f"{limit} of {total:,} sessions; --limit 0 for all")


def _explain_no_sessions(session_list: SessionList, filters: SessionFilters) -> None:
    from navi.cli.recall.no_matches import NOTHING_INDEXED, why_nothing_matches

    if session_list.total() == 0:
        output.note(NOTHING_INDEXED)
    else:
        output.note(why_nothing_matches(filters, session_list.total, session_list))


def _kept_ids(paths: IndexPaths, sessions: list[dict[str, Any]]) -> Container[str]:
    """The sessions whose file was kept. Read only if some file is gone."""
    if not any(each["is_archived"] for each in sessions) or not paths.kept.exists():
        return ()
    from navi.memory.keep import kept_files

    return kept_files.load(paths).files


def _show(sessions: list[dict[str, Any]], now: datetime, kept_ids: Container[str]) -> None:
    width = output.width()
    id_length = SHORT_ID_LENGTH if width is not None and width < WHOLE_ID_WIDTH else None
    moments = [moment for each in sessions if (moment := _latest(each)) is not None]
    zones = {f"{moment.astimezone():%Z}" for moment in moments}
    shows_hosts = any(each["host"] for each in sessions)
    zone = zones.pop() if len(zones) == 1 else "local"
    output.table(
        [
            Column("ID", style="cyan"),
            Column("AGE", is_number=True),
            Column(f"LATEST ({zone})", rank=3, style="dim"),
            Column("SOURCE", rank=1),
            *([Column("HOST")] if shows_hosts else []),
            Column("MSGS", is_number=True, rank=2),
            Column("TOOLS", is_number=True, rank=4),
            Column("PROJECT", needed_width=16, keeps_end=True, style="dim"),
            Column("TITLE", needed_width=24),
        ],
        [_row(each, now, id_length, kept_ids, shows_hosts) for each in sessions],
    )


def _row(
    session: dict[str, Any],
    now: datetime,
    id_length: int | None,
    kept_ids: Container[str],
    shows_hosts: bool,
) -> list[str]:
    latest = _latest(session)
    gone = "kept" if session["id"] in kept_ids else "file gone"
    flags = ["sub-agent"] * session["is_subagent"] + [gone] * session["is_archived"]
    flags += ["incomplete"] * (not session["is_complete"])
    # Labels come before the title, so that they are not cut off.
    labels = [*(f"[{flag}]" for flag in flags), *(f"#{tag}" for tag in session["tags"])]
    return [
        session["id"][:id_length],
        formats.age(latest, now),
        "" if latest is None else f"{latest.astimezone():%Y-%m-%d %H:%M}",
        formats.source(session["source"]),
        *([session["host"] or "here"] if shows_hosts else []),
        f"{session['message_count']:,}",
        f"{session['tool_count']:,}",
        formats.short_path(session["project"] or ""),
        " ".join([*labels, one_line(session["title"] or "")]),
    ]


def _latest(session: dict[str, Any]) -> datetime | None:
    latest = session["ended_at"] or session["started_at"]
    return None if latest is None else datetime.fromisoformat(latest)
