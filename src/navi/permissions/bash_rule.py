"""Claude Code's rules for Bash, and which commands they match.

tests/acceptance/clients/test_permission_rules.py checks them against Claude Code 2.1.325. A rule is
compared with each command of a line, using the words the command receives, so quotes hide nothing.
`Bash(x:*)` matches `x` with or without arguments; `*` matches anything; `\\*` is a literal star;
all other characters match themselves. Redirections are ignored.
"""

from __future__ import annotations

import re
from functools import cache


def matches(rule: str, command: str) -> bool:
    """Whether the rule matches `command`, which is the command's words separated by spaces."""
    return rules_pattern((rule,)).search(command) is not None


def covers(rule: str, other: str) -> bool:
    """Whether `rule` matches everything that `other` matches; False if that is not certain."""
    if rule == other or rule in ("Bash", "Bash(*)", "Bash(:*)"):
        return True
    if not rule.startswith("Bash(") or not other.startswith("Bash("):
        return False
    body = other[5:-1]
    if body.endswith((":*", " *")):
        head = body[:-2]
        return rule.endswith("*)") and "*" not in head and matches(rule, head)
    return "*" not in body and matches(rule, body)


@cache
def rules_pattern(rules: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern that matches a command if any of the rules does."""
    return re.compile("|".join(map(_expression, rules)) or r"(?!)", re.DOTALL)


def _expression(rule: str) -> str:
    body = rule[5:-1]
    is_prefix = body.endswith(":*") or (body.endswith(" *") and "*" not in body[:-1])
    if is_prefix:
        return rf"\A{re.escape(body[:-2])}(?: |\Z)"
    parts = [re.escape(part.replace(r"\*", "*")) for part in _STAR.split(body)]
    start = r"\A" if parts[0] else ""
    stop = r"\Z" if parts[-1] else ""
    return start + ".*".join(part for part in parts if part) + stop


_STAR = re.compile(r"(?<!\\)\*")
