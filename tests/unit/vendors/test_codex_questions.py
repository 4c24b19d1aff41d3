"""How Codex's questions become Navi's, and answers Codex's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from navi.live.agents.command_line.run_questions import Inquiry, Reachable, Reply, Settled, Step
from navi.live.model.question import (
    Decision,
    Question,
    QuestionAnswer,
    QuestionKind,
    QuestionState,
)
from navi.vendors.codex.app_server.arguments import app_server_arguments
from navi.vendors.codex.app_server.questions import ASK_AGAIN, CodexQuestions, script_of
from navi.vendors.codex.app_server.requests import first_lines

NOW = datetime(2026, 11, 18, tzinfo=UTC)
CWD = Path("/work/shop")
STARTED = {"id": "start", "result": {"thread": {"id": "T"}}}
TURN = {"method": "turn/started", "params": {"threadId": "T", "turn": {"id": "U"}}}
ENDED = {"method": "turn/completed", "params": {"threadId": "T", "turn": {"status": "completed"}}}
COLOURS = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
COLOUR = {"id": "colour", "question": "Which colour?", "isOther": True, "options": COLOURS}
SIZE = {"id": "size", "question": "How large?\nIn cm.", "isOther": True, "options": None}
ALLOW, ALWAYS = QuestionAnswer(Decision.ALLOW), QuestionAnswer(Decision.ALLOW_ALWAYS)
DENY = QuestionAnswer(Decision.DENY, "not today")


def item(method: str, kind: str = "commandExecution", **more: Any) -> dict[str, Any]:
    fields = {"type": kind, "id": "c1", **more}
    return {"method": f"item/{method}", "params": {"threadId": "T", "item": fields}}


def request(method: str, **params: Any) -> dict[str, Any]:
    ids = {"threadId": "T", "turnId": "U", "itemId": "c1"}
    return {"id": 0, "method": method, "params": {**ids, **params}}


def command(script: str = "touch made", **more: Any) -> dict[str, Any]:
    fields = {"command": f"/bin/bash -lc '{script}'", "cwd": str(CWD), "reason": "May I?"}
    return request("item/commandExecution/requestApproval", kind="command", **fields, **more)


COMMAND = command(proposedExecpolicyAmendment=["touch", "made"])
PATCH = request("item/fileChange/requestApproval", reason=None)
RIGHTS = request(
    "item/permissions/requestApproval",
    reason="to fetch",
    permissions={"network": {"enabled": True}, "fileSystem": None},
)
TOOL = request(
    "mcpServer/elicitation/request",
    serverName="box",
    message="Allow it?",
    _meta={
        "codex_approval_kind": "mcp_tool_call",
        "persist": ["session", "always"],
        "tool_params": {"path": "disk"},
    },
)
CHOICE = request("item/tool/requestUserInput", questions=[COLOUR, SIZE])
CHANGES = [
    {"path": "/work/shop/new.txt", "kind": {"type": "add"}, "diff": "one\ntwo\n"},
    {"path": "/work/shop/old.txt", "kind": {"type": "delete"}, "diff": "gone\n"},
    {"path": "/etc/hosts", "kind": {"type": "update"}, "diff": "@@ -1 +1 @@\n-a\n+b\n"},
]


def protocol(thread: str | None = "T") -> CodexQuestions:
    return CodexQuestions("Do it.", thread, CWD, None)


def read(reader: CodexQuestions, *messages: dict[str, Any]) -> list[Step]:
    return [step for each in messages for step in reader.read(json.dumps(each).encode())]


def inquiry_of(*messages: dict[str, Any]) -> tuple[CodexQuestions, Inquiry]:
    reader = protocol()
    [inquiry] = read(reader, *messages)
    assert isinstance(inquiry, Inquiry)
    return reader, inquiry


def closed(inquiry: Inquiry, answers: Sequence[QuestionAnswer | None]) -> list[Question]:
    questions = [Question.create(new, "s", "t", NOW, None) for new in inquiry.questions]
    return [
        replace(question, state=QuestionState.ANSWERED, answer=answer)
        for question, answer in zip(questions, answers, strict=True)
    ]


def lines(text: str) -> list[Any]:
    return [json.loads(each) for each in text.splitlines()]


def response(*messages: dict[str, Any], answers: Sequence[QuestionAnswer | None]) -> Any:
    reader, inquiry = inquiry_of(*messages)
    reply = reader.answer(inquiry, closed(inquiry, answers))
    if reply is None:
        return None
    last = lines(reply.line)[-1]
    assert last["id"] == 0
    return last["result"]


def test_a_new_thread_is_started_and_its_turn_when_its_id_is_known() -> None:
    *_, start = lines(first_lines(None, CWD, "big"))
    assert (start["method"], start["params"]) == ("thread/start", {"cwd": str(CWD), "model": "big"})

    reader = protocol(None)
    [reply] = read(reader, STARTED)
    assert isinstance(reply, Reply)
    assert not reply.is_repeatable
    [turn] = lines(reply.line)
    assert (turn["method"], turn["params"]["threadId"]) == ("turn/start", "T")
    assert turn["params"]["input"] == [{"type": "text", "text": "Do it."}]
    assert read(reader, {"id": "turn", "result": {}}) == [Settled(reply.id)]


@pytest.mark.parametrize(
    ("settings", "rights"),
    [
        ({}, {"sandbox": "read-only"}),
        ({"projects": {"/work/shop": {"trust_level": "trusted"}}}, {"sandbox": "workspace-write"}),
        ({"sandbox_mode": "danger-full-access"}, {"sandbox": "danger-full-access"}),
        ({"default_permissions": ":workspace"}, {"permissions": ":workspace"}),
    ],
)
def test_a_continued_thread_gets_the_rights_of_todays_settings(
    settings: dict[str, Any], rights: dict[str, str]
) -> None:
    assert lines(first_lines("T", CWD, None))[-1]["method"] == "config/read"
    [reply] = read(protocol(), {"id": "settings", "result": {"config": settings}})
    assert isinstance(reply, Reply)
    resume, turn = lines(reply.line)
    assert turn["method"] == "turn/start"
    params = resume["params"]
    assert (params["threadId"], params["approvalPolicy"]) == ("T", "on-request")
    assert {name: params[name] for name in ("sandbox", "permissions") if name in params} == rights


def test_codex_that_is_started_again_is_told_to_make_its_call_again() -> None:
    reader = protocol(None)
    read(reader, STARTED)
    reader.begin_again()
    [reply] = read(reader, {"id": "settings", "result": {"config": {}}})
    assert isinstance(reply, Reply)
    resume, turn = lines(reply.line)
    assert resume["params"]["threadId"] == "T"
    assert turn["params"]["input"][0]["text"] == ASK_AGAIN


def test_a_command_is_asked_about_with_its_script_and_the_rule_that_codex_proposes() -> None:
    _, inquiry = inquiry_of(COMMAND)
    [question] = inquiry.questions
    assert (question.kind, question.call_id) == (QuestionKind.PERMISSION, "c1")
    assert (question.title, question.detail) == ("May I call shell(touch made)?", "May I?")
    assert question.tool_input == {"command": "touch made", "cwd": str(CWD)}
    assert question.suggestions[0]["rules"][0]["ruleContent"] == "touch made"


def test_only_what_codex_itself_remembers_can_be_allowed_always() -> None:
    def suggestions(message: dict[str, Any]) -> list[Any]:
        _, inquiry = inquiry_of(message)
        return list(inquiry.questions[0].suggestions)

    assert suggestions(COMMAND)
    [tool] = suggestions(TOOL)
    assert set(tool["rules"][0]) == {"toolName"}
    assert [suggestions(each) for each in (command(), PATCH, RIGHTS)] == [[], [], []]


@pytest.mark.parametrize(
    ("message", "answer", "expected"),
    [
        (COMMAND, ALLOW, {"decision": "accept"}),
        (
            COMMAND,
            ALWAYS,
            {
                "decision": {
                    "acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["touch", "made"]}
                }
            },
        ),
        (COMMAND, DENY, {"decision": "decline"}),
        (PATCH, ALLOW, {"decision": "accept"}),
        (PATCH, DENY, {"decision": "decline"}),
        (RIGHTS, ALLOW, {"permissions": {"network": {"enabled": True}}, "scope": "turn"}),
        (RIGHTS, DENY, {"permissions": {}}),
        (TOOL, ALLOW, {"action": "accept", "content": {}, "_meta": None}),
        (TOOL, ALWAYS, {"action": "accept", "content": {}, "_meta": {"persist": "always"}}),
        (TOOL, DENY, {"action": "decline", "content": None}),
    ],
)
def test_an_answer_becomes_codexs_decision(
    message: dict[str, Any], answer: QuestionAnswer, expected: dict[str, Any]
) -> None:
    assert response(message, answers=[answer]) == expected


def test_the_words_of_a_denial_come_before_it_and_are_not_repeated() -> None:
    reader, inquiry = inquiry_of(COMMAND)
    reply = reader.answer(inquiry, closed(inquiry, [DENY]))
    assert reply is not None
    assert (reply.id, reply.is_repeatable) == ("0", False)
    steer, decision = lines(reply.line)
    assert (steer["method"], steer["params"]["expectedTurnId"]) == ("turn/steer", "U")
    assert steer["params"]["input"][0]["text"] == "not today"
    assert decision["result"] == {"decision": "decline"}
    confirmed = {"method": "serverRequest/resolved", "params": {"threadId": "T", "requestId": 0}}
    assert read(reader, confirmed) == [Settled("0")]


def test_a_denial_without_words_is_only_a_decision() -> None:
    reader, inquiry = inquiry_of(COMMAND)
    reply = reader.answer(inquiry, closed(inquiry, [QuestionAnswer(Decision.DENY)]))
    assert reply is not None
    assert reply.is_repeatable
    assert len(lines(reply.line)) == 1


def test_a_withdrawn_question_has_no_answer() -> None:
    assert response(COMMAND, answers=[None]) is None


def test_a_patch_that_a_pane_was_asked_about_before_is_known_from_the_threads_last_turn() -> None:
    change = {"type": "fileChange", "id": "c1", "status": "inProgress", "changes": CHANGES[:1]}
    thread = {"id": "T", "turns": [{"items": [{"type": "userMessage", "id": "u"}, change]}]}
    _, inquiry = inquiry_of({"id": "attach", "result": {"thread": thread}}, PATCH)
    assert inquiry.questions[0].title == "May I call apply_patch(new.txt)?"


def test_a_change_of_files_is_shown_as_a_patch() -> None:
    _, inquiry = inquiry_of(item("started", "fileChange", changes=CHANGES), PATCH)
    [question] = inquiry.questions
    assert question.title == "May I call apply_patch(new.txt, old.txt, /etc/hosts)?"
    assert question.tool_input is not None
    assert question.tool_input["patch"].splitlines() == [
        *("*** Begin Patch", "*** Add File: new.txt", "+one", "+two", "*** Delete File: old.txt"),
        *("*** Update File: /etc/hosts", "@@ -1 +1 @@", "-a", "+b", "*** End Patch"),
    ]


def test_a_servers_tool_is_asked_about_as_the_call_that_waits() -> None:
    call = item("started", "mcpToolCall", server="box", tool="wipe", arguments={"path": "disk"})
    other = item("started", "mcpToolCall", id="c0", server="box", tool="wipe", arguments={})
    same = item("started", "mcpToolCall", **{**call["params"]["item"], "id": "c2"})
    first, second = read(protocol(), other, call, same, TOOL, {**TOOL, "id": 1})
    assert isinstance(first, Inquiry)
    assert isinstance(second, Inquiry)
    assert (first.call_id, second.call_id) == ("c1", "c2")
    [question] = first.questions
    assert (question.tool_name, question.title) == ("box.wipe", "May I call box.wipe(disk)?")


def test_choices_and_questions_in_words_are_answered_together() -> None:
    _, inquiry = inquiry_of(CHOICE)
    colour, size = inquiry.questions
    assert (colour.kind, size.kind) == (QuestionKind.CHOICE, QuestionKind.TEXT)
    assert [each.label for each in colour.options] == ["Red", "Blue"]
    assert (colour.allow_free_text, size.title, size.detail) == (True, "How large?", "In cm.")

    chosen = QuestionAnswer(Decision.CHOOSE, "but light", choices=["Blue"])
    answers = response(CHOICE, answers=[chosen, QuestionAnswer(Decision.REPLY, "10")])
    assert answers == {
        "answers": {"colour": {"answers": ["Blue", "but light"]}, "size": {"answers": ["10"]}}
    }


def test_a_declined_choice_is_answered_in_words_and_so_is_its_neighbour() -> None:
    answers = response(CHOICE, answers=[DENY, None])["answers"]
    assert answers == {"colour": {"answers": ["not today"]}, "size": {"answers": ["(no answer)"]}}


@pytest.mark.parametrize(
    "message",
    [
        request("item/tool/call", tool="x"),
        request("item/tool/requestUserInput", questions=[]),
        request("mcpServer/elicitation/request", serverName="box", mode="form", message="Name?"),
    ],
)
def test_a_request_that_nobody_can_answer_is_refused_at_once(message: dict[str, Any]) -> None:
    [reply] = read(protocol(), message)
    assert isinstance(reply, Reply)
    [refusal] = lines(reply.line)
    assert "error" in refusal or refusal["result"]["action"] == "decline"


def test_the_turn_is_over_when_it_is_completed_or_can_not_begin() -> None:
    other = {"method": "turn/completed", "params": {"threadId": "sub-agent", "turn": {}}}
    for message, is_over in (
        (other, False),
        (ENDED, True),
        ({"id": "resume", "error": {"message": "thread already has an active writer"}}, True),
        ({"id": "denial 0", "error": {"message": "no active turn to steer"}}, False),
    ):
        reader = protocol()
        read(reader, TURN, message)
        assert reader.is_over is is_over


def test_codex_is_started_again_only_if_nothing_but_the_call_can_have_been_running() -> None:
    reader = protocol()
    read(reader, TURN, item("started"), COMMAND)
    assert reader.waits_only_for({"c1"})
    read(reader, item("started", id="c2"))
    assert not reader.waits_only_for({"c1"})
    read(reader, item("completed", id="c2"))
    assert reader.waits_only_for({"c1"})


@pytest.mark.parametrize(
    ("more", "tool", "title"),
    [
        ({"kind": "writeStdin"}, "write_stdin", "May I call write_stdin(touch made)?"),
        ({"networkApprovalContext": {"host": "a.org"}}, "network", "May I reach a.org?"),
    ],
)
def test_a_command_that_already_runs_is_no_new_command_and_not_started_again(
    more: dict[str, Any], tool: str, title: str
) -> None:
    message = command()
    message["params"] |= more
    reader = protocol()
    [inquiry] = read(reader, TURN, item("started"), message)
    assert isinstance(inquiry, Inquiry)
    assert (inquiry.questions[0].tool_name, inquiry.questions[0].title) == (tool, title)
    assert not reader.waits_only_for({"c1"})


def test_each_step_of_a_command_is_a_question_of_its_own() -> None:
    steps = [command(approvalId=each) for each in ("a1", "a2")]
    inquiries = [each for each in read(protocol(), *steps) if isinstance(each, Inquiry)]
    assert [each.call_id for each in inquiries] == ["a1", "a2"]


def test_a_message_can_follow_the_end_of_a_call_of_this_thread() -> None:
    reader = protocol()
    read(reader, TURN, item("started"))
    [step] = read(reader, item("completed"))
    assert isinstance(step, Reachable)
    [steer] = lines(step.line_of("hurry"))
    assert (step.call_id, steer["method"]) == ("c1", "turn/steer")

    sub_agent = item("started", id="c2")
    sub_agent["params"]["threadId"] = "sub-agent"
    ended = {**sub_agent, "method": "item/completed"}
    assert read(reader, sub_agent, ended) == []


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("/bin/bash -lc 'git status'", "git status"),
        ('zsh -c "it\'s"', "it's"),
        ("git status", "git status"),
        ("python -c 'print()'", "python -c 'print()'"),
        ('bash -lc "echo \\$HOME"', 'bash -lc "echo \\$HOME"'),
        ("bash -lc 'unclosed", "bash -lc 'unclosed"),
    ],
)
def test_a_script_is_taken_out_of_its_shell_only_if_its_quotes_are_clear(
    text: str, script: str
) -> None:
    assert script_of(text) == script


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], []),
        (["--sandbox", "workspace-write"], ['--config=sandbox_mode="workspace-write"']),
        (["-sread-only", "-m=big"], ['--config=sandbox_mode="read-only"', '--config=model="big"']),
        (["-c", "a.b=1", "--enable=x"], ["--config=a.b=1", "--enable=x"]),
        (["--skip-git-repo-check", "--color", "never"], []),
        (["--config=approval_policy=on-request"], ["--config=approval_policy=on-request"]),
        (['--config=approval_policy="never"'], None),
        (["--dangerously-bypass-approvals-and-sandbox"], None),
        (["--profile", "work"], None),
    ],
)
def test_arguments_of_exec_become_those_of_the_app_server(
    arguments: list[str], expected: list[str] | None
) -> None:
    assert app_server_arguments(arguments) == expected


@pytest.mark.parametrize("text", [b"", b"not JSON", b"[]", b"\xff", b'{"method": "item/started"}'])
def test_other_output_is_passed_over(text: bytes) -> None:
    assert list(protocol().read(text)) == []
