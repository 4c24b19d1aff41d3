from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from navi.base.errors import UsageError
from navi.cli.sm.answer_words import AnswerPlan, closing, read
from navi.live.model.question import (
    Decision,
    NewQuestion,
    Option,
    Question,
    QuestionAnswer,
    QuestionKind,
    QuestionState,
)
from navi.live.model.wire_format import QuestionJson, question_json

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
OPTIONS = ("SQLite", "PostgreSQL", "8080", "allow", "this, that")
RULE = {"rules": [{"toolName": "Bash", "ruleContent": "touch made *"}]}
ALLOW, ALWAYS, DENY, CHOOSE, REPLY = Decision


def question(kind: str, **fields: Any) -> Question:
    values = {"allow_free_text": True, **fields}
    if kind == "permission":
        values.setdefault("suggestions", [RULE])
    if kind == "choice":
        values["options"] = tuple(map(Option, OPTIONS))
    new = NewQuestion(kind=QuestionKind(kind), title="Well?", call_id="call", **values)
    return Question.create(new, "session", None, NOON, None)


def a_question(kind: str, **fields: Any) -> QuestionJson:
    return question_json(question(kind, **fields))


@pytest.mark.parametrize(
    ("kind", "words", "plan"),
    [
        ("permission", ["allow"], AnswerPlan(ALLOW)),
        ("permission", ["always"], AnswerPlan(ALWAYS)),
        ("permission", ["deny"], AnswerPlan(DENY)),
        ("permission", ["deny", "not", "today"], AnswerPlan(DENY, "not today")),
        ("plan", ["allow"], AnswerPlan(ALLOW)),
        ("choice", ["1"], AnswerPlan(CHOOSE, choices=["SQLite"])),
        ("choice", ["postgresql"], AnswerPlan(CHOOSE, choices=["PostgreSQL"])),
        ("choice", ["8080"], AnswerPlan(CHOOSE, choices=["8080"])),
        ("choice", ["allow"], AnswerPlan(CHOOSE, choices=["allow"])),
        ("choice", ["this, that"], AnswerPlan(CHOOSE, choices=["this, that"])),
        ("choice", ["1,", "PostgreSQL"], AnswerPlan(CHOOSE, choices=["SQLite", "PostgreSQL"])),
        ("choice", ["9"], AnswerPlan(REPLY, "9")),
        ("choice", ["0"], AnswerPlan(REPLY, "0")),
        ("choice", ["1, or a file"], AnswerPlan(REPLY, "1, or a file")),
        ("choice", ["deny", "later"], AnswerPlan(DENY, "later")),
        ("text", ["use", "a", "file"], AnswerPlan(REPLY, "use a file")),
        ("text", ["allow"], AnswerPlan(REPLY, "allow")),
        ("text", ["deny"], AnswerPlan(DENY)),
        # In quotes it is a text.
        ("text", ["deny it"], AnswerPlan(REPLY, "deny it")),
    ],
)
def test_words_are_read_as_the_question_can_be_answered(kind, words, plan) -> None:
    assert read(a_question(kind), words, None) == plan


@pytest.mark.parametrize(
    ("kind", "fields", "words", "updated_input", "problem"),
    [
        ("permission", {}, ["perhaps"], None, "answered with allow or always or deny"),
        ("permission", {"suggestions": []}, ["always"], None, "answered with allow or deny, not"),
        ("plan", {}, ["always"], None, "answered with allow or deny, not 'always'"),
        ("permission", {}, ["allow", "it"], None, "`allow` takes no text"),
        ("permission", {}, ["always", "it"], None, "`always` takes no text"),
        ("permission", {}, ["deny"], "{}", "--input can only be used with `allow`"),
        ("permission", {}, ["allow"], "[1]", "--input is not a JSON object"),
        ("permission", {}, ["allow"], "{", "--input is not a JSON object"),
        ("text", {}, ["hello"], "{}", "--input can only be used with `allow`"),
        ("choice", {"allow_free_text": False}, ["MySQL"], None, "there is no option 'MySQL'"),
    ],
)
def test_what_is_not_an_answer_is_refused(kind, fields, words, updated_input, problem) -> None:
    with pytest.raises(UsageError, match=problem):
        read(a_question(kind, **fields), words, updated_input)


def test_an_input_can_be_changed() -> None:
    plan = read(a_question("permission"), ["allow"], '{"command": "ls"}')
    assert plan == AnswerPlan(ALLOW, updated_input={"command": "ls"})


@pytest.mark.parametrize(
    ("state", "answer", "by", "via", "words"),
    [
        ("answered", (ALLOW,), "ada", "page", "answered by ada, from page, 1m ago: allowed"),
        (
            "answered",
            (CHOOSE, "both", ("SQLite", "8080")),
            "ada",
            "sm",
            "answered by ada, from sm, 1m ago: chose SQLite, 8080: both",
        ),
        ("answered", (REPLY, "a\nfile"), "ada", "api", "answered by ada, from api, 1m ago: "),
        ("expired", (DENY,), None, "deadline", "closed by its deadline, 1m ago"),
        ("withdrawn", None, None, None, "withdrawn, 1m ago: its turn or session has ended"),
    ],
)
def test_a_closed_question_says_how_it_was_closed(state, answer, by, via, words) -> None:
    decision = None if answer is None else QuestionAnswer(*answer)
    closed = question("choice").closed(QuestionState(state), decision, by, via, NOON)
    later = NOON + timedelta(minutes=1)
    assert closing(question_json(closed), later).startswith(words)
