"""`recall search`: find what was said, thought or run."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from navi.cli import formats, output
from navi.cli.recall.options import (
    clock,
    json_option,
    project_option,
    shown_source,
    since_option,
    source_option,
)
from navi.domain.secrets import masked as mask

if TYPE_CHECKING:
    from navi.index.search import Hit
    from navi.index.snippets import Snippet

PER_SESSION = 3
"""Passages shown of one session; `recall show` has the rest."""


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@source_option
@click.option("--tool", help="Only messages that used this tool, and its commands.")
@project_option
@since_option
@click.option("--role", type=click.Choice(["user", "assistant", "system"]), help="Who said it.")
@click.option("--session", help="Only in this session: an id or the beginning of one.")
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    help="How many passages.",
)
@json_option
def command(
    query: tuple[str, ...],
    source: str | None,
    tool: str | None,
    project: str | None,
    since: datetime | None,
    role: str | None,
    session: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """Find what was said, thought or run.

    All words must be in the passage. "quoted words" stand side by side, begin* finds words that
    begin so, -word leaves out passages with it (after `--`, so that it is not taken for an option).
    """
    from navi.index.places import places
    from navi.index.search import Filters, Search

    filters = Filters(source, tool, project, since, role, session)
    found = Search(places()).find(" ".join(query), filters, limit)
    if as_json:
        from navi.index.shapes import hit_json

        output.say_json([hit_json(hit) for hit in found.hits])
        return
    if not found.hits:
        output.note("nothing found; `recall index` reads what is new")
        return
    if not found.has_all_words:
        output.note("no passage has all these words; these have some of them")
    now = clock().now()
    sessions: dict[str, list[Hit]] = {}
    for hit in found.hits:
        sessions.setdefault(hit.session_id, []).append(hit)
    for hits in sessions.values():
        _show(hits, now)


def _show(hits: list[Hit], now: datetime) -> None:
    first = hits[0]
    latest = max((hit.timestamp for hit in hits if hit.timestamp), default=None)
    facts = [
        click.style(first.session_id, bold=True),
        shown_source(first.source),
        formats.home_short(first.project or "(no project)"),
        formats.age(latest, now),
    ]
    if first.title:
        facts.append(formats.shortened(mask(first.title), 60))
    output.say("  ".join(facts))
    for hit in hits[:PER_SESSION]:
        who = hit.tool_name or hit.role or ""
        label = f"{who} (thinking)" if hit.kind == "thinking" else who
        output.say(f"  {click.style(label + ':', dim=True)} {_highlighted(hit.snippet)}")
    if len(hits) > PER_SESSION:
        output.say(click.style(f"  … and {len(hits) - PER_SESSION} more", dim=True))
    if resume := _resume_command(first):
        output.say(click.style(f"  {resume}", dim=True))
    output.say()


def _highlighted(snippet: Snippet) -> str:
    pieces, position = [], 0
    for start, end in snippet.highlights:
        pieces.append(snippet.text[position:start])
        pieces.append(click.style(snippet.text[start:end], fg="yellow", bold=True))
        position = end
    return "".join(pieces) + snippet.text[position:]


def _resume_command(hit: Hit) -> str | None:
    from navi.index.agents import resume_line

    return resume_line(hit.source, hit.source_session_id, hit.cwd)
