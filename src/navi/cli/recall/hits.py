"""Prints the hits of `recall search`."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from navi.base.control_characters import one_line
from navi.base.secrets.masking import masked as mask
from navi.cli import cells, formats, output
from navi.cli.recall.options import clock

if TYPE_CHECKING:
    from navi.memory.read.search import Hit, Passage
    from navi.memory.read.snippets import Snippet

    Around = Callable[[Hit], list[Passage]]
    """Returns the messages around a hit."""

SHOWN_PER_SESSION = 3
"""How many of a session's hits to print."""
INDENT = 6


def show(hits: list[Hit], around: Around, query: str) -> None:
    """Print hits grouped by session, in the order of each session's first hit."""
    now = clock().now()
    sessions: dict[str, list[Hit]] = {}
    for hit in hits:
        sessions.setdefault(hit.session_id, []).append(hit)
    for group in sessions.values():
        _show_session(group, around, query, now)


def _show_session(hits: list[Hit], around: Around, query: str, now: datetime) -> None:
    first = hits[0]
    output.say(_head(hits, now))
    for hit in hits[:SHOWN_PER_SESSION]:
        passages = around(hit)
        for passage in passages:
            if hit.idx is not None and passage.idx < hit.idx:
                output.say(_neighbour(passage))
        _show_hit(hit)
        for passage in passages:
            if hit.idx is not None and passage.idx > hit.idx:
                output.say(_neighbour(passage))
    if len(hits) > SHOWN_PER_SESSION:
        more = f"… and {len(hits) - SHOWN_PER_SESSION} more: "
        command = shlex.join(["recall", "show", first.session_id, "--grep", query])
        output.say(output.styled(f"  {more}{command}", "dim"))
    if line := _resume_line(first):
        output.say(output.styled(f"  {line}", "dim"))
    output.say()


def _head(hits: list[Hit], now: datetime) -> str:
    first = hits[0]
    latest = max((hit.timestamp for hit in hits if hit.timestamp), default=None)
    facts = [
        formats.source(first.source),
        first.host or "",
        formats.short_path(first.project or "(no project)"),
        "" if latest is None else formats.age(latest, now),
        mask(first.title or ""),
    ]
    rest = "  ".join(one_line(fact) for fact in facts if fact)
    width = output.width()
    if width is not None:
        rest = cells.cut(rest, max(10, width - len(first.session_id) - 2))
    return f"{output.styled(first.session_id, 'cyan', 'bold')}  {rest}"


def _show_hit(hit: Hit) -> None:
    number = "" if hit.idx is None else f"#{hit.idx}"
    at = "" if hit.timestamp is None else formats.local_time(hit.timestamp)
    label = "  ".join(filter(None, (number, at, _speaker(hit)))) + ": "
    text, highlights = _cleaned(hit.snippet)
    width = output.width()
    if width is None:
        lines = [(0, len(text))]
    else:
        lines = cells.line_spans(text, width - 2 - cells.width(label), width - INDENT)
    for index, (start, end) in enumerate(lines):
        line = _highlighted(text, highlights, start, end).rstrip()
        if index == 0:
            output.say(f"  {output.styled(label, 'dim')}{line}")
        else:
            output.say(" " * INDENT + line)


def _cleaned(snippet: Snippet) -> tuple[str, list[tuple[int, int]]]:
    """The text without control characters, with its highlights moved accordingly."""
    text, highlights, position = "", [], 0
    for first, last in snippet.highlights:
        text += output.cleaned(snippet.text[position:first])
        start = len(text)
        text += output.cleaned(snippet.text[first:last])
        highlights.append((start, len(text)))
        position = last
    return text + output.cleaned(snippet.text[position:]), highlights


def _speaker(hit: Hit) -> str:
    name = one_line(hit.tool_name or hit.role or "?")
    if hit.kind == "output":
        return f"{name} printed"
    return f"{name} (thinking)" if hit.kind == "thinking" else name


def _highlighted(text: str, highlights: list[tuple[int, int]], start: int, end: int) -> str:
    """Part of the text, with its highlights in colour."""
    pieces, position = [], start
    for first, last in highlights:
        first, last = max(first, position), min(last, end)
        if first >= last:
            continue
        pieces += [text[position:first], output.styled(text[first:last], "bold", "yellow")]
        position = last
    return "".join(pieces) + text[position:end]


def _neighbour(passage: Passage) -> str:
    line = f"  #{passage.idx}  {passage.role}: {one_line(passage.text)}"
    width = output.width()
    return output.styled(line if width is None else cells.cut(line, width), "dim")


def _resume_line(hit: Hit) -> str | None:
    if hit.host is None and hit.source == "navi" and hit.source_session_id:
        return f'sm send {hit.source_session_id} "…"'
    if hit.resume_command is None:
        return None
    from navi.memory.resume import shell_line

    line = shell_line(hit.resume_command, hit.cwd)
    width = output.width()
    if width is not None and cells.width(line) > width - 2:
        # A command wrapped onto two lines is hard to copy.
        return f"recall resume {hit.session_id} --run"
    return line
