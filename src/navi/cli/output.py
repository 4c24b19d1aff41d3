"""The only printer: stdout is data, stderr is talk. Understandable without colour."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import click

from navi.domain.errors import NaviError


def say(text: str = "") -> None:
    """Data, or the answer to what was asked."""
    click.echo(text)


def stream(text: str) -> None:
    """A piece of data whose end is not known yet."""
    click.echo(text, nl=False)


def screen(lines: Sequence[str]) -> None:
    """Lines in place of all that the terminal shows, cut to its size."""
    width, height = os.get_terminal_size(sys.stdout.fileno())
    shown = [line[:width] for line in lines[: height - 1]]
    click.echo("\x1b[H" + "".join(f"{line}\x1b[K\n" for line in shown) + "\x1b[J", nl=False)


def note(text: str) -> None:
    """Talk on the side: progress, what is being done."""
    click.echo(text, err=True)


def status(text: str) -> None:
    """A line of talk that the next one replaces; only where somebody watches."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{text}", err=True, nl=False)


def say_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        say("  ".join(cells).rstrip())


def columns(rows: Sequence[Sequence[str]], separator: str) -> None:
    """Rows without a head, whose last cells may be missing."""
    for line in aligned(rows, separator):
        say(line)


def aligned(rows: Sequence[Sequence[str]], separator: str) -> list[str]:
    count = max((len(row) for row in rows), default=0)
    widths = [
        max((len(row[at]) for row in rows if at < len(row)), default=0) for at in range(count)
    ]
    lines = []
    for row in rows:
        last = len(row) - 1
        cells = [each.ljust(widths[at]) if at < last else each for at, each in enumerate(row)]
        lines.append(separator.join(cells))
    return lines


def page(lines: Sequence[str]) -> None:
    """Long data: through the pager on a terminal, plainly elsewhere."""
    text = "\n".join(lines)
    if sys.stdout.isatty():
        os.environ.setdefault("LESS", "-FRX")  # short texts stay on the screen, colours work
        click.echo_via_pager(text + "\n", color=True)
    else:
        say(text)


def highlighted(text: str) -> str:
    """Markdown with its code blocks in colour; untouched where nobody looks."""
    if "```" not in text or not sys.stdout.isatty():
        return text
    from navi.cli.code import coloured

    return coloured(text)


def fail(error: NaviError) -> NoReturn:
    click.echo(f"{click.style('error:', fg='red')} {error.message}", err=True)
    if error.hint:
        click.echo(f"{click.style('hint:', fg='cyan')} {error.hint}", err=True)
    sys.exit(error.exit_code)
