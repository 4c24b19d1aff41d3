"""What is thought of one command, and why."""

from __future__ import annotations

from typing import NamedTuple

from navi.index.harm_table import Harm, Key


class Judgement(NamedTuple):
    harm: Harm
    reason: str
    head: Key | None = None
    """How a rule for it and its like would begin; None if only the very command can be allowed."""
    is_wide: bool = False
    """Whatever follows the head is as harmless."""
    except_for: str = ""
    """An option that would make it do harm, where there is one."""


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
