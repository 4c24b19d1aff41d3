"""What `recall search` prints."""

from __future__ import annotations

from navi.cli import formats, output
from navi.cli.recall.masking import mask
from navi.index.places import places
from navi.index.search import Filters, Search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from navi.index.search import Hit
    from navi.index.snippets import Snippet

PER_SESSION = 3
"""Passages shown of one session; `recall show` has the rest."""


def show(
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
    from navi.runtime.system_clock import SystemClock

    now = SystemClock().now()
    sessions: dict[str, list[Hit]] = {}
    for hit in found.hits:
        sessions.setdefault(hit.session_id, []).append(hit)
    for hits in sessions.values():
        _show(hits, now)


def _show(hits: list[Hit], now: datetime) -> None:
    first = hits[0]
    latest = max((hit.timestamp for hit in hits if hit.timestamp), default=None)
    facts = [
        output.styled(first.session_id, "bold"),
        formats.source(first.source),
        formats.home_short(first.project or "(no project)"),
        formats.age(latest, now),
    ]
    if first.title:
        facts.append(formats.shortened(mask(first.title), 60))
    output.say("  ".join(facts))
    for hit in hits[:PER_SESSION]:
        who = hit.tool_name or hit.role or ""
        label = f"{who} (thinking)" if hit.kind == "thinking" else who
        output.say(f"  {output.styled(label + ':', 'dim')} {_highlighted(hit.snippet)}")
    if len(hits) > PER_SESSION:
        output.say(output.styled(f"  … and {len(hits) - PER_SESSION} more", "dim"))
    if first.resume_command is not None:
        line = formats.shell_line(first.resume_command, first.cwd)
        output.say(output.styled(f"  {line}", "dim"))
    output.say()


def _highlighted(snippet: Snippet) -> str:
    pieces, position = [], 0
    for start, end in snippet.highlights:
        pieces.append(snippet.text[position:start])
        pieces.append(output.styled(snippet.text[start:end], "bold", "yellow"))
        position = end
    return "".join(pieces) + snippet.text[position:]
