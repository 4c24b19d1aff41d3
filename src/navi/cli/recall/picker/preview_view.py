"""The preview as lines of styled text. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from navi.base.secrets.masking import masked
from navi.cli import cells, formats
from navi.cli.recall.picker.screen_text import screen_line, screen_text

if TYPE_CHECKING:
    from navi.cli.recall.picker.state import Session
    from navi.memory.read.excerpts import Excerpt, ExcerptText

Fragment = tuple[str, str]
"""A style and a text."""
Line = list[Fragment]

FAINT, STRONG, MATCH, TITLE = "class:faint", "bold", "class:match", "bold"
MARGIN = "  "
MATCH_MARGIN = "▌ "
"""Marks the matching message without colour."""
LONGEST_LINE = 80
"""Cells: text is hard to read in longer lines."""
NEAR_LINES = 5


def heading(session: Session, width: int) -> list[Line]:
    """The session's title, then its agent, project and id."""
    title = screen_line(masked(session["title"] or "")) or "(no title)"
    place = screen_line(formats.short_path(session["project"] or "(no project)"))
    facts = [formats.source(session["source"]), place, session["id"]]
    return [
        [(TITLE, cells.cut(title, width))],
        [(FAINT, cells.cut("  ".join(facts), width))],
    ]


@lru_cache(maxsize=8)
def body(excerpt: Excerpt, width: int) -> tuple[list[Line], int | None]:
    """The lines of an excerpt, and which one has the best match."""
    lines: list[Line] = []
    matches: list[tuple[int, set[str]]] = []
    room = max(10, min(width, LONGEST_LINE) - len(MARGIN))
    for text in excerpt.texts:
        margin = ("class:match-margin", MATCH_MARGIN) if text.is_match else ("", MARGIN)
        lines.append([margin, (FAINT, cells.cut(_label(text), room))])
        for line in _wrapped(text, room):
            words = {piece.lower() for style, piece in line if style == MATCH}
            if text.is_match and (words or not text.highlights):
                matches.append((len(lines), words))
            lines.append([margin, *line])
        lines.append([])
    return lines, _best(matches)


def _best(matches: list[tuple[int, set[str]]]) -> int | None:
    """The first line of the few that together have the most different words."""

    def words_near(number: int) -> int:
        near = [words for line, words in matches if number <= line < number + NEAR_LINES]
        return len(set[str]().union(*near))

    return max((line for line, _ in matches), key=words_near, default=None)


def visible(
    excerpt: Excerpt | None, width: int, height: int, scroll: int
) -> tuple[list[Line], int]:
    """The visible part of the excerpt, and `scroll` limited to its length."""
    if excerpt is None or height <= 0:
        return [], 0
    lines, match_line = body(excerpt, width)
    # A third of the height is above the match. Without a match, show the end.
    last_top = max(0, len(lines) - 1 - height)
    start = last_top if match_line is None else max(0, min(match_line - height // 3, last_top))
    top = max(0, min(start + scroll, last_top))
    return lines[top : top + height], top - start


def _label(text: ExcerptText) -> str:
    number = "" if text.idx is None else f"#{text.idx}"
    at = "" if text.timestamp is None else formats.local_time(text.timestamp)
    name = screen_line(text.tool_name or text.role or "?")
    name = {"output": f"{name} printed", "thinking": f"{name} (thinking)"}.get(text.kind, name)
    return "  ".join(filter(None, (number, name, at)))


def _wrapped(text: ExcerptText, room: int) -> Iterator[Line]:
    clean, highlights = _cleaned(text)
    offset = 0
    for paragraph in clean.split("\n"):
        for start, end in cells.line_spans(paragraph, room, room) if paragraph else ():
            yield _highlighted(clean, highlights, offset + start, offset + end)
        offset += len(paragraph) + 1


def _cleaned(text: ExcerptText) -> tuple[str, list[tuple[int, int]]]:
    """The text for the screen, with its highlights moved accordingly."""
    clean, highlights, position = "", [], 0
    for first, last in text.highlights:
        if first < position:
            continue
        clean += screen_text(text.text[position:first])
        start = len(clean)
        clean += screen_text(text.text[first:last])
        highlights.append((start, len(clean)))
        position = last
    clean += screen_text(text.text[position:])
    return clean.rstrip("\n"), highlights


def _highlighted(text: str, highlights: list[tuple[int, int]], start: int, end: int) -> Line:
    line: Line = []
    position = start
    for first, last in highlights:
        first, last = max(first, position), min(last, end)
        if first < last:
            line += [("", text[position:first]), (MATCH, text[first:last])]
            position = last
    line.append(("", text[position:end].rstrip()))
    return [fragment for fragment in line if fragment[1]]
