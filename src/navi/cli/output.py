"""The only module that prints: data to stdout, messages to stderr. Colour never carries meaning.

Control characters are removed from everything printed here, so that no text can control the
terminal. Navi's own colours are placeholders in the text, replaced after that.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TextIO

import click

from navi.base.control_characters import CONTROL_CHARACTER, without_control_characters
from navi.base.errors import NaviError
from navi.cli import cells
from navi.cli.table import GAP, Column, fit

STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
DIFF_STYLES = {"+++": "bold", "---": "bold", "@@": "cyan", "+": "green", "-": "red"}
RAW = "navi.cli.output.raw"
"""The key in a click context's `meta` that says whether --raw is set."""
# Stands for "ESC [" in Navi's own colours until they are printed: a private-use character that
# every process picks at random, so that no text can be crafted to contain it.
_PLACEHOLDER = chr(0xF0000 + int.from_bytes(os.urandom(2), "big") % 0xFFFE)
_COLOUR = re.compile(_PLACEHOLDER + "([0-9;]*m)")


def width() -> int | None:
    """The terminal's columns; None if stdout is a pipe or a file, where nothing is cut."""
    if not sys.stdout.isatty():
        return None
    variable = os.environ.get("COLUMNS", "")
    if variable.isdecimal() and int(variable) > 0:
        return int(variable)
    # Some terminals, such as those of build servers, report 0.
    return os.get_terminal_size(sys.stdout.fileno()).columns or 80


def say(text: str = "") -> None:
    """Print data: the command's answer."""
    _write(sys.stdout, text + "\n")


def stream(text: str) -> None:
    """Print a piece of data without ending the line."""
    _write(sys.stdout, text)


def screen_size() -> tuple[int, int]:
    """The terminal's columns and lines, as they are now."""
    size = os.get_terminal_size(sys.stdout.fileno())
    return size.columns or 80, size.lines or 24


def fill_screen(lines: Sequence[str]) -> None:
    """Replace the terminal's contents with these lines, cut to its size."""
    columns, height = screen_size()
    # The cursor needs the last line: text there would scroll the screen.
    visible = [_cut_line(line, columns) for line in lines[: height - 1]]
    _send(sys.stdout, "\x1b[H" + "".join(f"{line}\x1b[K\n" for line in visible) + "\x1b[J")


def _cut_line(line: str, room: int) -> str:
    """The line in colour if it fits, otherwise cut and without colours."""
    line = cleaned(line)
    plain = _COLOUR.sub("", line)
    return _with_colours(line) if cells.width(plain) <= room else cells.cut(plain, room)


@contextmanager
def separate_screen() -> Iterator[None]:
    """Use a separate screen without a cursor inside the `with` block."""
    _send(sys.stdout, "\x1b[?1049h\x1b[?25l")
    try:
        yield
    finally:
        _send(sys.stdout, "\x1b[?25h\x1b[?1049l")


def note(text: str) -> None:
    """Print a message to stderr."""
    _write(sys.stderr, text + "\n")


def status(text: str) -> None:
    """Print a status line that the next one replaces; nothing if stderr is not a terminal."""
    if sys.stderr.isatty():
        _send(sys.stderr, f"\r\x1b[K{cleaned(text)}")


def say_json(value: Any) -> None:
    """Print JSON with control characters escaped, so that values survive unchanged."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    if not _is_raw():
        text = CONTROL_CHARACTER.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    _send(sys.stdout, text + "\n")


def table(head: Sequence[str | Column], rows: Iterable[Sequence[str]]) -> None:
    """Print a table cut to the terminal's width, as far as its columns allow."""
    say("\n".join(table_lines(head, rows, width())))


def table_lines(
    head: Sequence[str | Column], rows: Iterable[Sequence[str]], room: int | None
) -> list[str]:
    """A table's head and rows as lines of at most `room` cells, as far as its columns allow."""
    columns = [each if isinstance(each, Column) else Column(each) for each in head]
    visible, body, widths = fit(columns, [list(map(_cell, row)) for row in rows], room)
    heads = [column.head for column in visible]
    lines = [_row(visible, heads, widths, is_head=True)]
    return lines + [_row(visible, row, widths) for row in body]


def _row(
    columns: Sequence[Column], row: Sequence[str], widths: Sequence[int], *, is_head: bool = False
) -> str:
    padded = []
    for column, cell, room in zip(columns, row, widths, strict=True):
        style = "dim" if is_head else column.style_of(cell)
        text = styled(cell, style) if cell and style else cell
        space = " " * (room - cells.width(cell))
        padded.append(space + text if column.is_number else text + space)
    return GAP.join(padded).rstrip()


def diff(text: str, room: int | None = None) -> None:
    """Print a unified diff, with lines cut to `room` cells."""
    for line in text.splitlines():
        visible = line if room is None else cells.cut(line, room)
        styles = [style for start, style in DIFF_STYLES.items() if line.startswith(start)]
        say(styled(visible, styles[0]) if styles else visible)


def columns(rows: Sequence[Sequence[str]], separator: str) -> None:
    """Print rows without a header; trailing cells may be missing."""
    for line in aligned(rows, separator):
        say(line)


def aligned(rows: Sequence[Sequence[str]], separator: str) -> list[str]:
    rows = [list(map(_cell, row)) for row in rows]
    count = max((len(row) for row in rows), default=0)
    widths = [
        max((cells.width(row[index]) for row in rows if index < len(row)), default=0)
        for index in range(count)
    ]
    lines = []
    for row in rows:
        last = len(row) - 1
        padded = [
            cells.padded(each, widths[index]) if index < last else each
            for index, each in enumerate(row)
        ]
        lines.append(separator.join(padded))
    return lines


def _cell(text: str) -> str:
    """A cell's text on one line: a line break could fake another row."""
    return without_control_characters(text).replace("\n", " ").replace("\t", " ")


def page(lines: Sequence[str]) -> None:
    """Print long data, through a pager if stdout is a terminal."""
    text = "\n".join(lines)
    if sys.stdout.isatty():
        os.environ.setdefault("LESS", "-FRX")  # short texts stay on the screen, colours work
        click.echo_via_pager(_with_colours(cleaned(text)) + "\n", color=True)
    else:
        say(text)


def highlighted(text: str) -> str:
    """Markdown with coloured code blocks on a terminal; unchanged elsewhere."""
    if "```" not in text or not sys.stdout.isatty() or _is_raw():
        return text
    from navi.cli.code import coloured

    return coloured(without_control_characters(text)).replace("\x1b[", _PLACEHOLDER)


def styled(text: str, *styles: str) -> str:
    """The text in colour on a terminal, unless NO_COLOR is set (https://no-color.org)."""
    if os.environ.get("NO_COLOR"):
        return text
    return f"{_PLACEHOLDER}{';'.join(STYLES[style] for style in styles)}m{text}{_PLACEHOLDER}0m"


def cleaned(text: str) -> str:
    """The text without control characters, unless --raw is set."""
    return text if _is_raw() else without_control_characters(text)


def _is_raw() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(RAW))


def fail(error: NaviError) -> NoReturn:
    complain(error)
    sys.exit(error.exit_code)


def complain(error: NaviError) -> None:
    """Report an error without ending the command."""
    note(f"{styled('error:', 'red')} {error.message}")
    if error.hint:
        note(f"{styled('hint:', 'cyan')} {error.hint}")


def _write(stream: TextIO, text: str) -> None:
    text = cleaned(text)
    _send(stream, _with_colours(text) if stream.isatty() else _COLOUR.sub("", text))


def _with_colours(text: str) -> str:
    return _COLOUR.sub("\x1b[" + r"\1", text)


def _send(stream: TextIO, text: str) -> None:
    """Write text whose control characters are Navi's own, or wanted because of --raw."""
    try:
        try:
            stream.write(text)
        except UnicodeEncodeError:  # the terminal can't show these characters, or they are invalid
            encoding = stream.encoding or "utf-8"
            stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        raise  # the program that reads the output has ended; click then ends the command quietly
    except OSError as error:
        # Python writes the rest again at exit, which would fail with a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise NaviError(
            f"can't write the output: {error.strerror}", hint="is the disk full?"
        ) from error
