"""No suggestion lets a harmful command run without asking, however often it ran before."""

from __future__ import annotations

import pytest

from navi.permissions.bash_rule import matches
from navi.permissions.shell.shell_line import read_command
from navi.permissions.suggestions import Confidence, CountedCommand, Suggestion, suggest
from tests.unit.permissions.ordinary_history import ordinary_history
from tests.unit.permissions.tricky_commands import (
    MORE,
    REVEALING,
    REVEALING_INPUT,
    RUNNING,
    SENDING,
    WRITING,
)

TRICKY = list(dict.fromkeys([*WRITING, *RUNNING, *SENDING, *REVEALING, *MORE]))


def sure_ones(*commands: CountedCommand) -> list[Suggestion]:
    suggestions = suggest(commands).suggestions
    return [each for each in suggestions if each.confidence is not Confidence.REVIEW]


def passes(text: str, suggestions: list[Suggestion]) -> str | None:
    """The rules by which Claude Code would run every command of the line without asking."""
    guards = {guard for each in suggestions for guard in each.guards}
    used = []
    line = read_command(text)
    if not line.is_understood:
        return None
    for command in line.commands:
        if command.dynamic or command.is_unknown or not command.words:
            return None  # Claude Code asks about what it can't check.
        if command.assignments or any(
            ">" in operator or target is None or "/dev/tcp" in target
            for operator, target in command.redirections
        ):
            return None  # It asks about these as well.
        if command.parent >= 0:
            continue
        words = " ".join(command.words)
        exact = f"Bash({command.text})"
        allowing = [
            each.rule for each in suggestions if each.rule == exact or matches(each.rule, words)
        ]
        if not allowing or any(matches(guard, words) for guard in guards):
            return None
        used += allowing
    return ", ".join(used)


def test_there_are_more_than_eight_hundred() -> None:
    assert len(TRICKY) > 800


def test_none_gets_a_rule_of_its_own() -> None:
    alone = {text: sure_ones(CountedCommand(text, 60)) for text in TRICKY}
    assert [text for text, rules in alone.items() if passes(text, rules) is not None] == []


@pytest.mark.parametrize("text", REVEALING_INPUT)
def test_a_secret_that_is_read_as_input_makes_no_rule(text: str) -> None:
    assert sure_ones(CountedCommand(text, 60)) == []


def test_no_rule_of_an_ordinary_history_lets_one_pass() -> None:
    commands = [*ordinary_history(), *(CountedCommand(text, 60) for text in TRICKY)]
    for history in (ordinary_history(), commands):
        rules = sure_ones(*history)
        assert [text for text in TRICKY if passes(text, rules) is not None] == []


def test_ordinary_commands_pass() -> None:
    rules = sure_ones(*ordinary_history())
    for text in ("git log -3", "rg -n token src", "cat src/a.py | head -3", "pytest tests -x -q"):
        assert passes(text, rules)
