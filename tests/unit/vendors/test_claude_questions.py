"""How Claude Code's questions become Navi's, and answers Claude Code's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from navi.base.errors import InvalidInput
from navi.live.agents.command_line.run_questions import Inquiry, Reply, Settled, Step
from navi.live.model.question import (
    Decision,
    Question,
    QuestionAnswer,
    QuestionKind,
    QuestionState,
    require_answer,
)
from navi.vendors.claude_code.inquiries import narrowest_rule
from navi.vendors.claude_code.questions import ClaudeCodeQuestions

NOW = datetime(2026, 11, 18, tzinfo=UTC)
RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "touch made *"}],
    "behavior": "allow",
    "destination": "localSettings",
}
WIDE_RULE = {**RULE, "rules": [{"toolName": "Bash"}]}
MODE = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
COMMAND = {"command": "touch made", "description": "Make it"}
COLOUR = {"question": "Which colour?", "options": [{"label": "Red", "description": "warm"}]}
SIZES = {"question": "Which sizes?", "options": [{"label": "S"}, {"label": "L"}], "multiSelect": 1}
RESULT = {"type": "result", "subtype": "success"}
AGENT = {"task_id": "a", "task_type": "local_agent"}


def line(record: dict[str, Any]) -> bytes:
    return json.dumps(record).encode()


def request(tool: str, arguments: dict[str, Any], number: int = 1, **more: Any) -> dict[str, Any]:
    fields = {"tool_name": tool, "input": arguments, "tool_use_id": f"toolu_{number}", **more}
    content = {"subtype": "can_use_tool", **fields}
    return {"type": "control_request", "request_id": f"r{number}", "request": content}


def tool_use(number: int = 1, **more: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": COMMAND}
    return {"type": "assistant", "message": {"content": [block]}, **more}


def tool_result(number: int = 1) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "made"}
    return {"type": "user", "message": {"content": [block]}}


def tasks(*running: dict[str, Any]) -> dict[str, Any]:
    return {"type": "system", "subtype": "background_tasks_changed", "tasks": running}


NOTIFICATION = {"type": "system", "subtype": "task_notification", "task_id": "a"}
PERMISSION = request("Bash", COMMAND, permission_suggestions=[MODE, WIDE_RULE, RULE])


def read(protocol: ClaudeCodeQuestions, *records: dict[str, Any]) -> list[Step]:
    return [step for record in records for step in protocol.read(line(record))]


def inquiry_of(record: dict[str, Any]) -> tuple[ClaudeCodeQuestions, Inquiry]:
    protocol = ClaudeCodeQuestions()
    [inquiry] = read(protocol, tool_use(), record)
    assert isinstance(inquiry, Inquiry)
    return protocol, inquiry


def closed(inquiry: Inquiry, *answers: QuestionAnswer | None) -> list[Question]:
    questions = [Question.create(new, "s", "t", NOW, None) for new in inquiry.questions]
    return [
        replace(question, state=QuestionState.ANSWERED, answer=answer)
        for question, answer in zip(questions, answers, strict=True)
    ]


def response(record: dict[str, Any], *answers: QuestionAnswer | None) -> Any:
    protocol, inquiry = inquiry_of(record)
    answer = protocol.answer(inquiry, closed(inquiry, *answers))
    if answer is None:
        return None
    decoded = json.loads(answer.line)
    assert (decoded["type"], decoded["response"]["request_id"]) == ("control_response", "r1")
    return decoded["response"]["response"]


def test_a_permission_carries_the_call_and_the_rule_that_always_allow_writes() -> None:
    _, inquiry = inquiry_of(PERMISSION)
    [question] = inquiry.questions
    assert (question.kind, question.call_id) == (QuestionKind.PERMISSION, "toolu_1")
    assert (question.title, question.tool_input) == ("May I call Bash(touch made)?", COMMAND)
    assert question.takes_updated_input
    assert question.suggestions == [RULE]


def test_a_permission_without_a_rule_can_not_be_allowed_always() -> None:
    _, inquiry = inquiry_of(request("Bash", COMMAND, permission_suggestions=[MODE]))
    [question] = closed(inquiry, None)
    with pytest.raises(InvalidInput, match="no rule that would always allow"):
        require_answer(question, QuestionAnswer(Decision.ALLOW_ALWAYS))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (QuestionAnswer(Decision.ALLOW), {"behavior": "allow"}),
        (
            QuestionAnswer(Decision.ALLOW, updated_input={"command": "true"}),
            {"behavior": "allow", "updatedInput": {"command": "true"}},
        ),
        (
            QuestionAnswer(Decision.ALLOW_ALWAYS),
            {"behavior": "allow", "updatedPermissions": [RULE]},
        ),
        (
            QuestionAnswer(Decision.DENY, "not today"),
            {"behavior": "deny", "message": "not today"},
        ),
        (
            QuestionAnswer(Decision.DENY),
            {"behavior": "deny", "message": "The person denied this call."},
        ),
        (None, None),
    ],
)
def test_the_answer_to_a_permission(answer: QuestionAnswer | None, expected: Any) -> None:
    assert response(PERMISSION, answer) == expected


@pytest.mark.parametrize(
    ("suggestions", "expected"),
    [([], None), ([MODE], None), ([WIDE_RULE], WIDE_RULE), ([WIDE_RULE, MODE, RULE], RULE)],
)
def test_always_allow_takes_the_narrowest_rule_and_never_a_mode(
    suggestions: Sequence[dict[str, Any]], expected: Any
) -> None:
    assert narrowest_rule(suggestions) == expected


def test_each_choice_is_a_question_and_all_answers_go_back_together() -> None:
    arguments = {"questions": [COLOUR, SIZES]}
    record = request("AskUserQuestion", arguments)
    _, inquiry = inquiry_of(record)
    assert [(each.title, each.allow_several) for each in inquiry.questions] == [
        ("Which colour?", False),
        ("Which sizes?", True),
    ]
    reply = QuestionAnswer(Decision.REPLY, "green")
    several = QuestionAnswer(Decision.CHOOSE, choices=("S", "L"))
    assert response(record, reply, several) == {
        "behavior": "allow",
        "updatedInput": {
            **arguments,
            "answers": {"Which colour?": "green", "Which sizes?": "S, L"},
        },
    }


def test_a_declined_choice_tells_the_agent_what_was_answered_before() -> None:
    record = request("AskUserQuestion", {"questions": [COLOUR, SIZES]})
    red = QuestionAnswer(Decision.CHOOSE, choices=("Red",))
    no = QuestionAnswer(Decision.DENY, "no idea")
    assert response(record, red, no) == {
        "behavior": "deny",
        "message": "Which sizes? no idea\nWhich colour? Red",
    }
    assert response(record, None, no) == {"behavior": "deny", "message": "no idea"}
    assert response(record, red, None) is None


def test_a_plan_is_asked_about_once_its_text_is_there() -> None:
    protocol = ClaudeCodeQuestions()
    [reply] = read(protocol, request("ExitPlanMode", {}))
    assert isinstance(reply, Reply)
    assert json.loads(reply.line)["request"] == {"subtype": "get_plan"}
    text = {"exists": True, "content": "# Plan"}
    answer = {"subtype": "success", "request_id": reply.id, "response": text}
    [inquiry] = read(protocol, {"type": "control_response", "response": answer})
    assert isinstance(inquiry, Inquiry)
    assert (inquiry.id, inquiry.questions[0].detail) == ("r1", "# Plan")
    assert inquiry.questions[0].kind is QuestionKind.PLAN


def test_a_client_that_does_not_tell_its_plan_is_asked_about_without_it() -> None:
    protocol = ClaudeCodeQuestions()
    read(protocol, request("ExitPlanMode", {}))
    answer = {"subtype": "error", "request_id": "plan-r1", "error": "unsupported"}
    [inquiry] = read(protocol, {"type": "control_response", "response": answer})
    assert isinstance(inquiry, Inquiry)
    assert inquiry.questions[0].detail == ""


def deferred(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    call = {"id": "toolu_1", "name": tool, "input": arguments}
    return {**RESULT, "stop_reason": "tool_deferred", "deferred_tool_use": call}


def test_a_choice_that_was_put_off_is_asked_about_and_the_agent_may_end() -> None:
    protocol = ClaudeCodeQuestions()
    arguments = {"questions": [COLOUR, SIZES]}
    [inquiry] = read(protocol, tool_use(), deferred("AskUserQuestion", arguments))
    assert isinstance(inquiry, Inquiry)
    assert inquiry.is_deferred
    assert [each.title for each in inquiry.questions] == ["Which colour?", "Which sizes?"]
    assert protocol.has_deferred
    assert protocol.is_over


def test_the_question_that_was_put_off_is_the_same_when_claude_code_asks_again() -> None:
    protocol = ClaudeCodeQuestions()
    arguments = {"questions": [COLOUR]}
    [first] = read(protocol, tool_use(), deferred("AskUserQuestion", arguments))
    protocol.begin_again()
    [again] = read(protocol, request("AskUserQuestion", arguments))
    assert isinstance(first, Inquiry)
    assert isinstance(again, Inquiry)
    assert not protocol.has_deferred
    assert not again.is_deferred
    assert _keys(first) == _keys(again)
    assert protocol.waits_only_for({"toolu_1"})


def _keys(inquiry: Inquiry) -> list[tuple[str, str]]:
    return [(each.call_id, each.fingerprint) for each in inquiry.questions]


def test_a_plan_that_was_put_off_is_read_before_claude_code_ends() -> None:
    protocol = ClaudeCodeQuestions()
    [reply] = read(protocol, tool_use(), deferred("ExitPlanMode", {}))
    assert isinstance(reply, Reply)
    assert not protocol.is_over
    text = {"exists": True, "content": "# Plan"}
    answer = {"subtype": "success", "request_id": reply.id, "response": text}
    [inquiry] = read(protocol, {"type": "control_response", "response": answer})
    assert isinstance(inquiry, Inquiry)
    assert (inquiry.is_deferred, inquiry.questions[0].detail) == (True, "# Plan")
    assert protocol.is_over


def test_what_a_stopped_turn_had_put_off_is_ended_before_the_next_one() -> None:
    protocol = ClaudeCodeQuestions()
    begun = {"type": "command_lifecycle", "command_uuid": "own", "state": "started"}
    queued = {"type": "command_lifecycle", "command_uuid": "message", "state": "queued"}
    call = request("AskUserQuestion", {"questions": [COLOUR]})
    [inquiry] = read(protocol, begun, queued, call)
    assert isinstance(inquiry, Inquiry)
    say = protocol.answer(inquiry, closed(inquiry, None))
    assert say is not None
    assert json.loads(say.line)["response"]["response"]["interrupt"]

    read(protocol, tool_result(), RESULT, {**begun, "state": "cancelled"})
    assert not protocol.is_over, "the message is still to be worked on"
    read(protocol, {**queued, "state": "started"}, RESULT)
    assert protocol.is_over


def test_what_navi_cannot_answer_is_refused_at_once() -> None:
    other = {"type": "control_request", "request_id": "r9", "request": {"subtype": "elicitation"}}
    [reply] = read(ClaudeCodeQuestions(), other)
    assert isinstance(reply, Reply)
    assert json.loads(reply.line)["response"]["subtype"] == "error"


@pytest.mark.parametrize(
    "end", [{"type": "control_cancel_request", "request_id": "r1"}, tool_result()]
)
def test_a_request_is_settled_when_it_is_cancelled_or_its_call_has_a_result(
    end: dict[str, Any],
) -> None:
    protocol, _ = inquiry_of(PERMISSION)
    assert read(protocol, RESULT) == []
    assert not protocol.is_over
    assert read(protocol, end) == [Settled("r1")]
    assert protocol.is_over


def test_a_turn_is_over_with_its_result_or_if_it_was_done_before() -> None:
    for end in (RESULT, {"type": "command_lifecycle", "state": "completed"}):
        protocol = ClaudeCodeQuestions()
        read(protocol, tool_use(), tool_result())
        assert not protocol.is_over
        read(protocol, end)
        assert protocol.is_over


def test_a_turn_is_not_over_while_a_sub_agent_works_or_its_end_is_unreported() -> None:
    protocol = ClaudeCodeQuestions()
    for record in (tasks(AGENT), RESULT, tool_use(7, parent_tool_use_id="toolu_1"), NOTIFICATION):
        read(protocol, record)
        assert not protocol.is_over
    read(protocol, tasks())
    assert not protocol.is_over, "the agent goes on with what its sub-agent found"
    read(protocol, RESULT)
    assert protocol.is_over


def test_a_command_in_the_background_does_not_keep_the_turn_open() -> None:
    protocol = ClaudeCodeQuestions()
    read(protocol, tasks({"task_id": "b", "task_type": "local_bash"}), RESULT)
    assert protocol.is_over


def test_it_waits_only_for_an_answer_if_no_other_call_is_unfinished() -> None:
    protocol = ClaudeCodeQuestions()
    read(protocol, tool_use(1), PERMISSION)
    assert protocol.waits_only_for({"toolu_1"})
    read(protocol, tool_use(2))
    assert not protocol.waits_only_for({"toolu_1"})
    read(protocol, tool_result(2))
    assert protocol.waits_only_for({"toolu_1"})
    read(protocol, tasks(AGENT))
    assert not protocol.waits_only_for({"toolu_1"})


def test_lines_that_are_not_records_are_skipped() -> None:
    protocol = ClaudeCodeQuestions()
    for text in (b"", b"warning: x", b"[1]", b'{"type":', b'{"type":"assistant","message":null}'):
        assert list(protocol.read(text)) == []
