"""Finds the terminal, even if standard output is a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from navi.base.errors import UsageError

if TYPE_CHECKING:
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output


class Terminal(NamedTuple):
    input: Input
    output: Output


def is_for_person() -> bool:
    """Whether a person can use a full screen here: neither input nor output is redirected."""
    return sys.stdin.isatty() and sys.stdout.isatty() and _can_fill_screen()


@contextmanager
def opened() -> Iterator[Terminal]:
    """The terminal of this process. Standard output may be a pipe that gets the chosen id."""
    from prompt_toolkit.input.defaults import create_input
    from prompt_toolkit.output.color_depth import ColorDepth
    from prompt_toolkit.output.vt100 import Vt100_Output

    path = _path()
    if path is None:
        raise UsageError(
            "the picker needs a terminal", hint="in scripts, use `recall search` or `recall list`"
        )
    if not _can_fill_screen():
        raise UsageError(
            "the picker can't draw on this terminal: TERM is dumb or not set",
            hint="use `recall search` or `recall list`",
        )
    with open(path) as keyboard, open(path, "w") as screen:
        # ColorDepth respects NO_COLOR.
        output = Vt100_Output.from_pty(
            screen, term=os.environ["TERM"], default_color_depth=ColorDepth.from_env()
        )
        yield Terminal(create_input(keyboard), output)


def _path() -> str | None:
    """The device of a standard stream: macOS can't wait for input on /dev/tty."""
    names = []
    for descriptor in (0, 1, 2):
        with suppress(OSError):
            names.append(os.ttyname(descriptor))
    for path in (*names, "/dev/tty"):
        if os.access(path, os.R_OK | os.W_OK):
            with suppress(OSError):
                os.close(os.open(path, os.O_RDWR | os.O_NOCTTY))
                return path
    return None


def _can_fill_screen() -> bool:
    return os.environ.get("TERM", "dumb") not in ("", "dumb")
