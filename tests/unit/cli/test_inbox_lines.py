from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from navi.cli.sm.inbox_lines import how_to_answer, item_lines
from navi.live.model.inbox import InboxItem, InboxKind
from navi.live.model.question import NewQuestion, Question, QuestionKind
from navi.live.model.wire_format import inbox_json, question_json

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
RULE = {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch made *"}]}


def permission(*suggestions: dict[str, Any]) -> Question:
    new = NewQuestion(QuestionKind.PERMISSION, "May I?", "call", suggestions=suggestions)
    return Question.create(new, "session", None, NOON, None)


@pytest.mark.parametrize(
    ("suggestion", "line"),
    [
        (RULE, "  always adds: + Bash(touch made *)"),
        ({"rules": [{"toolName": "WebFetch"}]}, "  always adds: + WebFetch"),
        ({"execpolicy_amendment": ["touch", "a1"]}, "  always adds: + touch a1"),
    ],
)
def test_a_permission_shows_the_rule_that_always_would_write(suggestion, line) -> None:
    question = permission(suggestion)
    item = InboxItem(
        "question-1",
        InboxKind.QUESTION,
        "session",
        "builder",
        "May I?",
        "asks",
        NOON,
        None,
        question,
    )
    assert item_lines(inbox_json(item), NOON, UTC)[-1] == line


def test_always_is_offered_only_with_a_rule_to_write() -> None:
    with_rule, without = (
        how_to_answer([question_json(permission(*each))]) for each in ([RULE], [])
    )
    assert "allow|always|deny" in (with_rule or "")
    assert "allow|deny" in (without or "")
