"""Claude Code's questions about a tool call, and the decisions that answer them.

Both have the same form in the control protocol, used without a terminal, and in the hook
`PermissionRequest`, used in a terminal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from navi.live.model.question import (
    Decision,
    NewQuestion,
    Option,
    Question,
    QuestionAnswer,
    QuestionKind,
    answer_in_words,
)
from navi.live.model.refusal import call_in_words

CHOICE_TOOL, PLAN_TOOL = "AskUserQuestion", "ExitPlanMode"
DENIED = "The person denied this call."

Json = Mapping[str, Any]


def questions_of(request: Json, plan: str = "") -> Sequence[NewQuestion]:
    """The questions that a `can_use_tool` request asks a person."""
    call_id, tool, arguments = (
        str(request["tool_use_id"]),
        str(request["tool_name"]),
        input_of(request),
    )
    if tool == CHOICE_TOOL and (choices := _choices(arguments)):
        return [_choice(call_id, each) for each in choices]
    if tool == PLAN_TOOL:
        return [
            NewQuestion(
                kind=QuestionKind.PLAN,
                title="May I carry out this plan?",
                call_id=call_id,
                detail=str(arguments.get("plan") or plan),
            )
        ]
    suggestions = [
        each for each in request.get("permission_suggestions") or () if isinstance(each, dict)
    ]
    rule = narrowest_rule(suggestions)
    return [
        NewQuestion(
            kind=QuestionKind.PERMISSION,
            title=f"May I call {call_in_words(tool, arguments)}?",
            call_id=call_id,
            detail=str(request.get("description") or ""),
            tool_name=tool,
            tool_input=arguments,
            takes_updated_input=True,
            suggestions=[] if rule is None else [rule],
        )
    ]


def _choices(arguments: Json) -> list[Json]:
    entries = arguments.get("questions")
    return [each for each in entries or () if isinstance(each, dict) and each.get("question")]


def _choice(call_id: str, entry: Json) -> NewQuestion:
    title, _, detail = str(entry["question"]).strip().partition("\n")
    return NewQuestion(
        kind=QuestionKind.CHOICE,
        title=title,
        call_id=call_id,
        detail=detail.strip(),
        options=[
            Option(str(each.get("label")), str(each.get("description") or ""))
            for each in entry.get("options") or ()
            if isinstance(each, dict)
        ],
        allow_free_text=True,
        allow_several=bool(entry.get("multiSelect")),
    )


def decision_of(request: Json, closed: Sequence[Question]) -> Json:
    """The answer to a `can_use_tool` request."""
    if (denied := denied_question(closed)) is not None:
        return {"behavior": "deny", "message": _message(denied, closed)}
    if closed[0].kind is QuestionKind.CHOICE:
        entries = _choices(input_of(request))
        answers = {
            str(entry["question"]): answer_in_words(_answer_of(question))
            for entry, question in zip(entries, closed, strict=True)
        }
        return {"behavior": "allow", "updatedInput": {**input_of(request), "answers": answers}}
    decision: dict[str, Any] = {"behavior": "allow"}
    answer = _answer_of(closed[0])
    if answer.updated_input is not None:
        decision["updatedInput"] = dict(answer.updated_input)
    if answer.decision is Decision.ALLOW_ALWAYS and (rule := narrowest_rule(closed[0].suggestions)):
        decision["updatedPermissions"] = [rule]
    return decision


def narrowest_rule(suggestions: Sequence[Json]) -> Json | None:
    """The suggestion that allows the least; None if Claude Code suggests no rule."""
    rules = [each for each in suggestions if each.get("type") == "addRules" and each.get("rules")]
    return min(rules, key=_width, default=None)


def _width(suggestion: Json) -> tuple[int, int]:
    """How much a suggestion allows: its number of rules for whole tools, then of all rules."""
    rules = suggestion["rules"]
    return sum(not each.get("ruleContent") for each in rules), len(rules)


def denied_question(closed: Sequence[Question]) -> Question | None:
    return next((each for each in closed if each.answer and _is_denial(each.answer)), None)


def _is_denial(answer: QuestionAnswer) -> bool:
    return answer.decision is Decision.DENY


def _message(denied: Question, closed: Sequence[Question]) -> str:
    """The call's result for the agent, including any answers to its other questions."""
    message = _answer_of(denied).text or DENIED
    others = [each for each in closed if each is not denied and each.answer is not None]
    if not others:
        return message
    answers = [f"{each.title} {answer_in_words(_answer_of(each))}" for each in others]
    return "\n".join([f"{denied.title} {message}", *answers])


def _answer_of(question: Question) -> QuestionAnswer:
    assert question.answer is not None
    return question.answer


def input_of(request: Json) -> Json:
    value = request.get("input")
    return value if isinstance(value, dict) else {}
