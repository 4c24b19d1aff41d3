"""The only printer: stdout is data, stderr is talk. Understandable without colour."""

from __future__ import annotations

import os
import sys

from navi.domain import plain_json
from navi.domain.errors import NaviError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import TracebackType
    from typing import Any, NoReturn, TextIO

STYLES = {"bold": "1", "dim": "2", "red": "31", "yellow": "33", "cyan": "36"}


def say(text: str = "") -> None:
    """Data, or the answer to what was asked."""
    _write(sys.stdout, text + "\n")


def stream(text: str) -> None:
    """A piece of data whose end is not known yet."""
    _write(sys.stdout, text)


def screen(lines: Sequence[str]) -> None:
    """Lines in place of all that the terminal shows, cut to its size."""
    width, height = os.get_terminal_size(sys.stdout.fileno())
    shown = [line[:width] for line in lines[: height - 1]]
    _write(sys.stdout, "\x1b[H" + "".join(f"{line}\x1b[K\n" for line in shown) + "\x1b[J")


def note(text: str) -> None:
    """Talk on the side: progress, what is being done."""
    _write(sys.stderr, text + "\n")


def status(text: str) -> None:
    """A line of talk that the next one replaces; only where somebody watches."""
    if sys.stderr.isatty():
        _write(sys.stderr, f"\r\x1b[K{text}")


def say_json(value: Any) -> None:
    say(plain_json.dumps(value))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    padded = (
        [cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines
    )
    say("\n".join("  ".join(cells).rstrip() for cells in padded))


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
    """For a terminal. Who wants plain text says so by NO_COLOR (https://no-color.org)."""
    if os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{';'.join(STYLES[style] for style in styles)}m{text}\x1b[0m"


class ending:
    """Around a command: what went wrong is said, and the process ends with Navi's exit codes."""

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, NaviError):
            fail(error)
        if isinstance(error, KeyboardInterrupt):
            sys.exit(130)
        if isinstance(error, BrokenPipeError):
            # Whoever read has seen enough. What is still held back must not be written at the end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)


def fail(error: NaviError) -> NoReturn:
    note(f"{styled('error:', 'red')} {error.message}")
    if error.hint:
        note(f"{styled('hint:', 'cyan')} {error.hint}")
    sys.exit(error.exit_code)


def _without_codes(text: str) -> str:
    import re

    return re.sub(r"\x1b\[[;?0-9]*[a-zA-Z]", "", text)


def _write(stream: TextIO, text: str) -> None:
    if "\x1b" in text and not stream.isatty():
        text = _without_codes(text)
    try:
        stream.write(text)
    except UnicodeEncodeError:  # the terminal has no such characters, or nobody has
        encoding = stream.encoding or "utf-8"
        stream.write(text.encode(encoding, "replace").decode(encoding))
    stream.flush()
