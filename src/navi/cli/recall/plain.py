"""Plain command lines, read without click: whole names of options, each with a good value.

Everything else is left to click. A test holds both to the same reading.
"""

from __future__ import annotations

from navi.domain.light_typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import Any

DEFAULT_SESSIONS, DEFAULT_PASSAGES, MOST_PASSAGES = 50, 20, 1000
ROLES = ("user", "assistant", "system")


class Option(NamedTuple):
    parameter: str
    read: Callable[[str], Any] | None
    """Raises `ValueError` for what click has to look at; None for a flag."""
    default: Any = None


class Command(NamedTuple):
    options: dict[str, Option]
    words: str | None
    """The parameter that takes what is no option; at least one word of it."""


def read(command: Command, words: list[str]) -> dict[str, Any] | None:
    """The parameters; None if click has to read it."""
    given = {option.parameter: option.default for option in command.options.values()}
    rest: list[str] = []
    while words:
        word, *words = words
        if word == "--":
            rest += words
            break
        if not word.startswith("-") or word == "-":
            rest.append(word)
            continue
        name, has_value, value = word.partition("=")
        option = command.options.get(name)
        if option is None or (option.read is None and has_value):
            return None
        if option.read is None:
            given[option.parameter] = True
            continue
        if not has_value:
            if not words or words[0].startswith("-"):
                return None
            value, *words = words
        try:
            given[option.parameter] = option.read(value)
        except ValueError:
            return None
    if (command.words is None) == bool(rest):
        return None
    return given if command.words is None else {**given, command.words: tuple(rest)}


def _number_of_sessions(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def _number_of_passages(text: str) -> int:
    number = int(text)
    if not 1 <= number <= MOST_PASSAGES:
        raise ValueError(text)
    return number


def _role(text: str) -> str:
    if text not in ROLES:
        raise ValueError(text)
    return text


def _since(text: str) -> datetime:
    from navi.cli.recall.since import read_since  # only now: few give one

    return read_since(text)


def _left_to_click(text: str) -> str:
    raise ValueError(text)


_COMMON = {
    # Which sources there are is known only to those who load them all.
    "--source": Option("source", _left_to_click),
    "--since": Option("since", _since),
    "--project": Option("project", str),
    "--json": Option("as_json", None, False),
}
COMMANDS = {
    "index": Command(
        {
            "--source": _COMMON["--source"],
            "--full": Option("full", None, False),
            "--recreate": Option("recreate", None, False),
            "--verbose": Option("verbose", None, False),
            "-v": Option("verbose", None, False),
            "--json": _COMMON["--json"],
        },
        None,
    ),
    "list": Command(
        {
            **_COMMON,
            "--tag": Option("tag", str),
            "--limit": Option("limit", _number_of_sessions, DEFAULT_SESSIONS),
        },
        None,
    ),
    "search": Command(
        {
            **_COMMON,
            "--tool": Option("tool", str),
            "--role": Option("role", _role),
            "--session": Option("session", str),
            "--limit": Option("limit", _number_of_passages, DEFAULT_PASSAGES),
        },
        "query",
    ),
}
