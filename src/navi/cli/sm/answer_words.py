"""Reads a person's answer to a question from the command line, and describes its result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from navi.base.errors import Conflict, UsageError
from navi.base.timestamps import describe_age
from navi.cli.sm import lines
from navi.live.model.question import TERMINAL, Decision, QuestionKind, decisions_of

if TYPE_CHECKING:
    from navi.live.model.wire_format import QuestionJson

KEYWORDS = {
    "allow": Decision.ALLOW,
    "always": Decision.ALLOW_ALWAYS,
    "deny": Decision.DENY,
}


@dataclass(frozen=True, slots=True)
class AnswerPlan:
    decision: Decision
    text: str | None = None
    choices: Sequence[str] = ()
    updated_input: Any = None


class AlreadyClosed(Conflict):
    kind = "question_closed"

    def __init__(self, question: QuestionJson, now: datetime) -> None:
        super().__init__(
            f"this question was already {closing(question, now)}",
            hint="`sm inbox` lists the open questions",
        )


def read(question: QuestionJson, words: Sequence[str], updated_input: str | None) -> AnswerPlan:
    """Parse the answer. A keyword such as `deny` as the first word is a decision."""
    possible = decisions_of(QuestionKind(question["kind"]), has_rule=bool(question["suggestions"]))
    keyword = KEYWORDS.get(words[0])
    is_option = words[0] in _labels(question)
    if keyword in possible and not (len(words) == 1 and is_option):
        return _decision(keyword, words[1:], updated_input)
    if updated_input is not None:
        raise UsageError(
            "--input can only be used with `allow`",
            hint='`sm answer ID allow --input \'{"command": "ls"}\'`',
        )
    text = " ".join(words)
    if Decision.CHOOSE in possible and (choices := _choices(question, text)):
        return AnswerPlan(Decision.CHOOSE, choices=choices)
    if Decision.REPLY not in possible:
        names = [name for name, decision in KEYWORDS.items() if decision in possible]
        raise UsageError(
            f"this question is answered with {_or(names)}, not {lines.plain(text, 40)!r}",
            hint=f'`sm answer {question["id"]} deny "why not"` tells the agent why',
        )
    if question["options"] and not question["allow_free_text"]:
        raise UsageError(
            f"there is no option {lines.plain(text, 40)!r}",
            hint=f"choose {_or([repr(label) for label in _labels(question)])}, or a number",
        )
    return AnswerPlan(Decision.REPLY, text)


def _decision(decision: Decision, words: Sequence[str], updated_input: str | None) -> AnswerPlan:
    text = " ".join(words) or None
    if text is not None and decision is not Decision.DENY:
        raise UsageError(
            f"`{decision.replace('allow_', '')}` takes no text",
            hint='`deny "what to do instead"` takes one; `sm send` sends a message',
        )
    if updated_input is None:
        return AnswerPlan(decision, text)
    if decision is not Decision.ALLOW:
        raise UsageError("--input can only be used with `allow`", hint="leave out --input")
    try:
        value = json.loads(updated_input)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise UsageError(
            "--input is not a JSON object", hint='for example --input \'{"command": "ls"}\''
        )
    return AnswerPlan(decision, updated_input=value)


def _choices(question: QuestionJson, text: str) -> list[str]:
    """The options that the text names by label or number; empty if it names none."""
    labels = _labels(question)
    if (label := _option(labels, text)) is not None:
        return [label]
    options = [_option(labels, part) for part in text.split(",")]
    return [] if None in options else [option for option in options if option is not None]


def _option(labels: Sequence[str], text: str) -> str | None:
    choice = text.strip()
    same = [label for label in labels if label == choice] or [
        label for label in labels if label.casefold() == choice.casefold()
    ]
    if same:
        return same[0]
    is_number = choice.isdecimal() and choice.isascii() and len(choice) < 4
    return labels[int(choice) - 1] if is_number and 0 < int(choice) <= len(labels) else None


def _labels(question: QuestionJson) -> list[str]:
    return [str(option["label"]) for option in question["options"]]


def _or(words: Sequence[str]) -> str:
    return " or ".join(words)


def outcome(question: QuestionJson) -> str:
    """The answer in words: `allowed`, `chose PostgreSQL`"""
    answer = question["answer"]
    assert answer is not None
    text = "" if answer["text"] is None else f": {lines.plain(answer['text'], lines.LONGEST)}"
    match answer["decision"]:
        case Decision.ALLOW:
            return "allowed, with a different input" if answer["updated_input"] else "allowed"
        case Decision.ALLOW_ALWAYS:
            return "always allowed"
        case Decision.DENY:
            return f"denied{text}"
        case Decision.CHOOSE:
            return f"chose {', '.join(map(lines.plain, answer['choices']))}{text}"
    return f"replied{text}"


def closing(question: QuestionJson, now: datetime) -> str:
    """How a closed question was closed: `answered by local, from page, 3m ago: allowed`"""
    at = question["answered_at"]
    age = "" if at is None else f", {describe_age(datetime.fromisoformat(at), now)}"
    if question["answered_via"] == TERMINAL and question["answer"] is None:
        return f"answered in the agent's terminal{age}"
    if question["state"] == "withdrawn":
        return f"withdrawn{age}: its turn or session has ended"
    if question["state"] == "expired":
        return f"closed by its deadline{age}"
    by = f" by {question['answered_by']}" if question["answered_by"] else ""
    return f"answered{by}, from {question['answered_via']}{age}: {outcome(question)}"
