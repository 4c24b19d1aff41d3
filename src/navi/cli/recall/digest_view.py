"""Prints a digest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from navi.base.control_characters import one_line
from navi.cli import cells, formats, output

if TYPE_CHECKING:
    from navi.memory.overview.digest import Digest

STYLES = {"Failed": "red"}
"""Colours of headings. Other headings are only bold."""


def show(digest: Digest, period: str, summary: str | None, most: int | None) -> None:
    from navi.memory.overview.digest_text import NO_PROJECT, head, sections, shortened

    lines = [f"What agents did {period}", ""]
    if summary is not None:
        lines += [output.styled("The model's summary, made from the digest below", "dim")]
        lines += [*_wrapped(summary), ""]
    for project in digest.projects:
        name = formats.short_path(one_line(project.project or NO_PROJECT))
        lines.append(f"{output.styled(name, 'cyan', 'bold')}  {head(project)}")
        for heading, items in sections(project):
            lines.append(f"  {output.styled(heading, *_style(heading))}")
            visible, more = shortened(items, most)
            lines += [f"    {_cut(item)}" for item in visible]
            lines += [output.styled(f"    … and {more:,} more", "dim")] if more else []
        lines.append("")
    output.page(lines[:-1])


def _style(heading: str) -> tuple[str, ...]:
    return ("bold", STYLES[heading]) if heading in STYLES else ("bold",)


def _cut(item: str) -> str:
    width = output.width()
    return item if width is None else cells.cut(item, max(20, width - 4))


def _wrapped(text: str) -> list[str]:
    width = output.width()
    lines = output.cleaned(text).splitlines()
    if width is None:
        return lines
    return [
        line[start:end].rstrip()
        for line in lines
        for start, end in cells.line_spans(line, width, width)
    ]
