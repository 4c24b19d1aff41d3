"""The judgement of one command, and the table entries on which it is based.

A wide rule allows a command with any arguments, e.g. `Bash(git log:*)`; an exact rule allows only
the command as it was run.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

Words = tuple[str, ...]


class Harm(IntEnum):
    """Ordered from best to worst, so that the worst of several is their maximum."""

    NONE = 0
    """Only reads."""
    RUNS_CHECKS = 1
    """Runs the repository's tests or checks (checks_table.py)."""
    UNKNOWN = 2
    CERTAIN = 3
    """Writes, deletes, shows secrets, uses the network, changes rights, or runs arbitrary code."""


NO_ARGUMENTS = -1


class Entry(NamedTuple):
    """A table's entry for all commands with the same first words."""

    harm: Harm
    reason: str
    harmful_options: frozenset[str] = frozenset()
    """With one of these, the command writes a file or runs something."""
    harmless_options: frozenset[str] | None = None
    """Any other option is unknown; None if all options but `harmful_options` are harmless."""
    max_operands: int | None = None
    """With more operands, the command writes; None if any number is harmless.

    NO_ARGUMENTS if not even an option may follow.
    """
    needs_one_of: frozenset[str] = frozenset()
    """Without at least one of these options, the command rewrites files."""
    guards: tuple[str, ...] | None = None
    """The guards of a wide rule besides SHARED_GUARDS; None if no guards would make it safe."""


class Judgement(NamedTuple):
    harm: Harm
    reason: str
    head: Words | None = None
    """The words with which a wide rule for the command begins; None if it can't have one."""
    guards: tuple[str, ...] | None = None
    """The guards of that rule besides SHARED_GUARDS; None if no guards would make it safe."""


DYNAMIC_ARGUMENTS = "has arguments that are known only at run time"


def harmful_option(arguments: Words, options: frozenset[str]) -> str | None:
    """One of `options` that the arguments contain, even abbreviated or bundled."""
    for word in arguments:
        name = word.partition("=")[0]
        for option in options:
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


def unknown_option(arguments: Words, harmless: frozenset[str]) -> str | None:
    """The first option that is not in `harmless`; `-5`, `-` and `--` don't count as options."""
    for word in arguments:
        name = word.partition("=")[0]
        if word in ("-", "--") or name[1:].isdigit():
            continue
        if name[:1] == "-" and name not in harmless and word not in harmless:
            return name
    return None
