"""What is thought of one command, and why."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

Key = tuple[str, ...]


class Harm(IntEnum):
    """From best to worst, so that the worst of several is their maximum."""

    NONE = 0
    """It only reads."""
    PROJECT = 1
    """It runs the tests or checks of the repository it is in (checks_table.py)."""
    UNKNOWN = 2
    DONE = 3
    """It writes, deletes, shows secrets, reaches out, changes rights, or runs any given code."""


class Entry(NamedTuple):
    """What a table knows about the commands that begin in some way."""

    harm: Harm
    reason: str
    unless: frozenset[str] = frozenset()
    """Options with which it writes a file or runs something."""
    only: frozenset[str] | None = None
    """The options that are known to be harmless; None where all but those of `unless` are."""
    operands: int | None = None
    """With more operands than this it writes. -1: nothing at all may follow."""
    needs: frozenset[str] = frozenset()
    """It is what the entry says only with one of these options."""
    guards: tuple[str, ...] | None = None
    """With these, whatever follows is as harmless; None if no guards can see to that."""


class Judgement(NamedTuple):
    harm: Harm
    reason: str
    head: Key | None = None
    """How a rule for it and its like would begin; None if only the very command can be allowed."""
    guards: tuple[str, ...] | None = None
    """Those of a rule for everything that begins with the head; None if there is no such rule."""


def caught_option(arguments: Key, unless: frozenset[str]) -> str | None:
    """The first of `unless` among the arguments, abbreviated or bundled with others as well."""
    for word in arguments:
        name = word.partition("=")[0]
        for option in unless:
            if name == option or (option[-1] == "=" and word.startswith(option)):
                return option
            if name[:1] != "-" or len(name) < 2:
                continue
            is_short = len(option) == 2
            is_bundled = is_short and name[1] != "-" and option[1] in name[1:]
            is_abbreviated = name[:2] == "--" and len(name) > 2 and option.startswith(name)
            if is_bundled or is_abbreviated:
                return option
    return None


def unknown_option(arguments: Key, only: frozenset[str]) -> str | None:
    """The first option that is not among `only`; `-5`, `-` and `--` count as none."""
    for word in arguments:
        name = word.partition("=")[0]
        if word in ("-", "--") or name[1:].isdigit():
            continue
        if name[:1] == "-" and name not in only and word not in only:
            return name
    return None
