"""The only printer: stdout is data, stderr is talk. Understandable without colour."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, TextIO

from navi.cli import cells
from navi.cli.table import GAP, Column, fit
from navi.domain.errors import NaviError

STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_CODE = re.compile(r"\x1b\[[;?0-9]*[a-zA-Z]")


def width() -> int | None:
    """The terminal's columns; None if stdout is a pipe or a file, where nothing is cut."""
    if not sys.stdout.isatty():
        return None
    named = os.environ.get("COLUMNS", "")
    if named.isdecimal() and int(named) > 0:
        return int(named)
    # Some terminals, such as those of build servers, say 0.
    return os.get_terminal_size(sys.stdout.fileno()).columns or 80


def say(text: str = "") -> None:
    """Data, or the answer to what was asked."""
    _write(sys.stdout, text + "\n")


def stream(text: str) -> None:
    """A piece of data whose end is not known yet."""
    _write(sys.stdout, text)


def screen(lines: Sequence[str]) -> None:
    """Lines in place of all that the terminal shows, cut to its size."""
    columns, height = os.get_terminal_size(sys.stdout.fileno())
    shown = [cells.cut(line, columns) for line in lines[: height - 1]]
    _write(sys.stdout, "\x1b[H" + "".join(f"{line}\x1b[K\n" for line in shown) + "\x1b[J")


def note(text: str) -> None:
    """Talk on the side: progress, what is being done."""
    _write(sys.stderr, text + "\n")


def status(text: str) -> None:
    """A line of talk that the next one replaces; only where somebody watches."""
    if sys.stderr.isatty():
        _write(sys.stderr, f"\r\x1b[K{text}")


def say_json(value: Any) -> None:
    say(json.dumps(value, indent=2, ensure_ascii=False))


def table(head: Sequence[str | Column], rows: Iterable[Sequence[str]]) -> None:
    """Cut to the terminal's width, as far as the columns allow it."""
    columns = [each if isinstance(each, Column) else Column(each) for each in head]
    shown, body, widths = fit(columns, list(rows), width())
    heads = [column.head for column in shown]
    lines = [_row(shown, heads, widths, is_head=True)]
    lines += [_row(shown, row, widths) for row in body]
    say("\n".join(lines))


def _row(
    columns: Sequence[Column], row: Sequence[str], widths: Sequence[int], *, is_head: bool = False
) -> str:
    made = []
    for column, cell, room in zip(columns, row, widths, strict=True):
        style = "dim" if is_head else column.style
        text = styled(cell, style) if cell and style else cell
        space = " " * (room - cells.width(cell))
        made.append(space + text if column.is_number else text + space)
    return GAP.join(made).rstrip()


def columns(rows: Sequence[Sequence[str]], separator: str) -> None:
    """Rows without a head, whose last cells may be missing."""
    for line in aligned(rows, separator):
        say(line)


def aligned(rows: Sequence[Sequence[str]], separator: str) -> list[str]:
    count = max((len(row) for row in rows), default=0)
    widths = [
        max((cells.width(row[at]) for row in rows if at < len(row)), default=0)
        for at in range(count)
    ]
    lines = []
    for row in rows:
        last = len(row) - 1
        padded = [
            cells.padded(each, widths[at]) if at < last else each for at, each in enumerate(row)
        ]
        lines.append(separator.join(padded))
    return lines


def page(lines: Sequence[str]) -> None:
    """Long data: through the pager on a terminal, plainly elsewhere."""
    text = "\n".join(lines)
    if sys.stdout.isatty():
        import click

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


def styled(text: str, *styles: str) -> str:
    """For a terminal. NO_COLOR turns it off (https://no-color.org)."""
    if os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{';'.join(STYLES[style] for style in styles)}m{text}\x1b[0m"


def fail(error: NaviError) -> NoReturn:
    complain(error)
    sys.exit(error.exit_code)


def complain(error: NaviError) -> None:
    """Of what went wrong, where the command goes on."""
    note(f"{styled('error:', 'red')} {error.message}")
    if error.hint:
        note(f"{styled('hint:', 'cyan')} {error.hint}")


def _write(stream: TextIO, text: str) -> None:
    if "\x1b" in text and not stream.isatty():
        text = _CODE.sub("", text)
    try:
        try:
            stream.write(text)
        except UnicodeEncodeError:  # the terminal has no such characters, or nobody has
            encoding = stream.encoding or "utf-8"
            stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        raise  # the reader has seen enough; click ends the command quietly
    except OSError as error:
        # Python would try again at its end, and fail with a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise NaviError(
            f"can't write the answer: {error.strerror}", hint="is the disk full?"
        ) from error
