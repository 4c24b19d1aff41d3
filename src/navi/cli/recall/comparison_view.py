"""Prints two sessions side by side, or one after the other in a narrow terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from navi.base.control_characters import one_line
from navi.base.secrets.masking import mask
from navi.cli import cells, formats, output
from navi.cli.table import Column

if TYPE_CHECKING:
    from navi.memory.overview.session_comparison import Comparison, Overlap
    from navi.memory.overview.session_profile import Profile

TWO_COLUMNS_FROM = 100
"""How wide a terminal must be for two columns."""
GAP = " │ "
INDENT = "  "
LONGEST_ENDING = 600
HEADINGS = {
    "prompts": "Prompts",
    "commands": "Commands",
    "files_changed": "Files changed",
    "files_read": "Files read",
}
CUT_SHORT = {
    "error": "its last turn failed",
    "limit": "its last turn hit a usage limit",
    "max_iterations": "its last turn took too many steps",
    "denied": "its last turn was denied permission",
    "stopped": "its last turn was stopped",
}


def show(comparison: Comparison, most: int | None) -> None:
    room = _column_width()
    first, second = comparison.first, comparison.second
    lines = _beside(_facts("A", first), _facts("B", second), room)
    for name, heading in HEADINGS.items():
        lines += _overlap_lines(heading, getattr(comparison, name), room, most)
    lines += _tool_lines(comparison, most)
    lines += ["", output.styled("How they ended", "bold")]
    lines += _beside(_ending("A", first, room), _ending("B", second, room), room)
    output.page(lines)


def _column_width() -> int | None:
    """The width of each of two columns; None if there is no room for two."""
    width = output.width()
    return None if width is None or width < TWO_COLUMNS_FROM else (width - len(GAP)) // 2


def _beside(left: Sequence[str], right: Sequence[str], room: int | None) -> list[str]:
    """The lines in two columns; without `room`, one after the other. The first is the heading."""
    if room is None:
        return [
            output.styled(left[0], "cyan"),
            *map(_fitted, left[1:]),
            "",
            output.styled(right[0], "cyan"),
            *map(_fitted, right[1:]),
        ]
    lines = [
        (cells.padded(cells.cut(one, room), room), cells.cut(other, room))
        for one, other in zip_longest(left, right, fillvalue="")
    ]
    head = GAP.join(output.styled(each, "cyan") for each in lines[0])
    return [head, *(GAP.join(each).rstrip() for each in lines[1:])]


def _fitted(line: str) -> str:
    width = output.width()
    return line if width is None else cells.cut(line, width)


def _facts(label: str, profile: Profile) -> list[str]:
    tokens = profile.tokens
    cost = "unknown" if profile.cost_usd is None else f"${profile.cost_usd:,.2f}"
    title = one_line(mask(profile.title or "no title"))
    started = "?" if profile.started_at is None else formats.local_time(profile.started_at)
    facts = {
        "title": title,
        "agent": formats.source(profile.source),
        "model": one_line(profile.model or "?"),
        "project": formats.short_path(one_line(profile.project or "?")),
        "started": started,
        "duration": formats.duration(profile.duration_seconds),
        "messages": f"{profile.message_count:,}, {formats.count(profile.tool_count, 'tool call')}",
        "tokens": f"{formats.compact(tokens['input_tokens'])} in, "
        f"{formats.compact(tokens['output_tokens'])} out, "
        f"{formats.compact(tokens['cache_read_tokens'])} from the cache",
        "cost": f"{cost}{'+' if profile.has_unpriced and profile.cost_usd is not None else ''}",
    }
    return [f"{label}  {profile.id}", *(f"{name:<9} {value}" for name, value in facts.items())]


def _overlap_lines(heading: str, overlap: Overlap, room: int | None, most: int | None) -> list[str]:
    if not (overlap.only_first or overlap.only_second or overlap.both):
        return []
    lines = ["", output.styled(heading, "bold")]
    if overlap.both:
        lines.append(output.styled(f"both: {len(overlap.both):,}", "cyan"))
        lines += [_fitted(each) for each in _items(overlap.both, most)]
    if overlap.only_first or overlap.only_second:
        lines += _beside(
            [f"only A: {len(overlap.only_first):,}", *_items(overlap.only_first, most)],
            [f"only B: {len(overlap.only_second):,}", *_items(overlap.only_second, most)],
            room,
        )
    return lines


def _items(texts: Sequence[str], most: int | None) -> list[str]:
    visible = texts if most is None else texts[:most]
    lines = [f"{INDENT}{one_line(mask(each))}" for each in visible]
    more = len(texts) - len(visible)
    return [*lines, f"{INDENT}… and {more:,} more"] if more else lines


def _tool_lines(comparison: Comparison, most: int | None) -> list[str]:
    if not comparison.tools:
        return []
    columns = [Column("TOOL", style="cyan"), Column("A", True), Column("B", True)]
    rows = [[one_line(tool), f"{a:,}", f"{b:,}"] for tool, a, b in comparison.tools[:most]]
    return [
        "",
        output.styled("Tools", "bold"),
        *output.table_lines(columns, rows, output.width()),
    ]


def _ending(label: str, profile: Profile, room: int | None) -> list[str]:
    remark = CUT_SHORT.get(profile.outcome or "")
    if remark is None and profile.is_unanswered:
        remark = "its last prompt was not answered"
    text = one_line(mask(profile.ending))
    if len(text) > LONGEST_ENDING:
        text = text[: LONGEST_ENDING - 1] + "…"
    width = room or output.width()
    lines = [text] if text else ["the agent said nothing"]
    if text and width is not None:
        lines = [text[start:end].rstrip() for start, end in cells.line_spans(text, width, width)]
    return [f"{label}: {remark}" if remark else label, *lines]
