"""The judgement of one command, and its reason."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

Key = tuple[str, ...]


class Harm(IntEnum):
    """Ordered from best to worst, so that the worst of several is their maximum."""

    NONE = 0
    """Only reads."""
    PROJECT = 1
    """Runs the repository's tests or checks (checks_table.py)."""
    UNKNOWN = 2
    CERTAIN = 3
    """Writes, deletes, shows secrets, uses the network, changes rights, or runs arbitrary code."""


class Entry(NamedTuple):
    """A table's entry for all commands with the same first words."""

    harm: Harm
    reason: str
    unless: frozenset[str] = frozenset()
    """Options with which it writes a file or runs something."""
    only: frozenset[str] | None = None
    """The only harmless options; None if all are harmless except those in `unless`."""
    operands: int | None = None
    """With more operands than this, it writes; -1 if nothing may follow."""
    needs: frozenset[str] = frozenset()
    """Without one of these options, it rewrites files."""
    guards: tuple[str, ...] | None = None
    """Guards that make any arguments harmless; None if there are no such guards."""


class Judgement(NamedTuple):
    harm: Harm
    reason: str
    head: Key | None = None
    """The beginning of a wide rule; None if only the exact command can be allowed."""
    guards: tuple[str, ...] | None = None
    """The guards of the wide rule; None if there is no such rule."""


DYNAMIC_ARGUMENTS = "has arguments that are known only at run time"


def harmful_option(arguments: Key, unless: frozenset[str]) -> str | None:
    """An option of `unless` that the arguments contain, even abbreviated or bundled."""
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
    """The first option that is not in `only`; `-5`, `-` and `--` don't count as options."""
    for word in arguments:
        name = word.partition("=")[0]
        if word in ("-", "--") or name[1:].isdigit():
            continue
        if name[:1] == "-" and name not in only and word not in only:
            return name
    return None
