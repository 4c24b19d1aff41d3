"""How what `codex app-server` says becomes events, in lines of Codex 0.166.0 on a stand-in."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from navi.base.errors import AgentFailed, NaviError, PermissionRefused, UsageLimit
from navi.live.agents.driver import DriverEvent
from navi.live.model.event import (
    Conversation,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    Usage,
    UsageWindow,
)
from navi.vendors.codex.app_server.stream import AppServerReader

RESET = datetime(2033, 5, 18, 3, 33, 19, tzinfo=UTC)
STARTED = {"id": "start", "result": {"thread": {"id": "T"}}}
COMPLETED = {
    "method": "turn/completed",
    "params": {"threadId": "T", "turn": {"status": "completed"}},
}
USED_UP = {
    "method": "account/rateLimits/updated",
    "params": {
        "rateLimits": {
            "primary": {"usedPercent": 100, "windowDurationMins": 300, "resetsAt": 1999999999},
            "secondary": None,
        }
    },
}
REFUSED_CALL = [
    b'{"type":"event_msg","payload":{"type":"task_started"}}',
    b'{"type":"response_item","payload":{"type":"function_call","name":"exec_command",'
    b'"arguments":"{\\"cmd\\":\\"touch made\\"}","call_id":"c1"}}',
    b'{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1",'
    b'"output":"exec_command failed: CreateProcess { message: \\"Rejected(\\\\\\"rejected by user'
    b'\\\\\\")\\" }"}}',
]


def note(method: str, thread: str = "T", **params: Any) -> dict[str, Any]:
    return {"method": method, "params": {"threadId": thread, **params}}


def failed(message: str, info: object) -> dict[str, Any]:
    error = {"message": message, "codexErrorInfo": info, "additionalDetails": None}
    return note("turn/completed", turn={"status": "failed", "error": error})


def reader(thread: str | None = None, rollout: list[bytes] | None = None) -> AppServerReader:
    return AppServerReader(Usage(output_tokens=5), thread, lambda _: rollout or [])


def read(stream: AppServerReader, *messages: dict[str, Any]) -> list[DriverEvent]:
    return [event for each in messages for event in stream.read(json.dumps(each).encode())]


def error_of(*messages: dict[str, Any], exit_code: int = 0) -> NaviError | None:
    stream = reader("T")
    read(stream, *messages)
    try:
        stream.raise_failure(exit_code, "")
    except NaviError as error:
        return error
    return None


def test_a_turn_is_streamed_as_it_comes() -> None:
    command = {"type": "commandExecution", "id": "c1", "command": "/bin/bash -lc 'echo hi'"}
    done = {**command, "status": "completed", "aggregatedOutput": "hi\n", "exitCode": 0}
    total = {"inputTokens": 100, "cachedInputTokens": 90, "outputTokens": 12}
    stream = reader()
    events = read(
        stream,
        STARTED,
        note("item/started", item={"type": "userMessage", "id": "u"}),
        note("item/completed", item={"type": "reasoning", "id": "r", "summary": ["Hm.", "Well."]}),
        note("item/started", item={"type": "agentMessage", "id": "m1", "text": ""}),
        note("item/agentMessage/delta", itemId="m1", delta="Let "),
        note("item/agentMessage/delta", itemId="m1", delta="me see."),
        note("item/completed", item={"type": "agentMessage", "id": "m1", "text": "Let me see."}),
        note("item/started", item=command),
        note("item/completed", item=done),
        note("thread/tokenUsage/updated", tokenUsage={"total": total}),
        note("item/completed", item={"type": "agentMessage", "id": "m2", "text": "Done."}),
        COMPLETED,
    )
    arguments = {"command": "/bin/bash -lc 'echo hi'"}
    assert events == [
        Conversation("T"),
        ThinkingDelta("Hm.\nWell.\n"),
        TextDelta("Let "),
        TextDelta("me see."),
        ToolStarted("c1", "shell", arguments),
        ToolFinished("c1", "shell", arguments, "hi\n"),
        Usage(input_tokens=10, output_tokens=7, cache_read_tokens=90),
        TextDelta("\n\nDone."),
    ]
    stream.raise_failure(0, "")


def test_what_sub_agents_say_belongs_to_their_own_threads() -> None:
    said = {"type": "agentMessage", "id": "m", "text": "sub"}
    assert read(reader("T"), note("item/completed", "other", item=said)) == []


def test_the_result_of_a_servers_tool_keeps_its_names() -> None:
    item = {
        "type": "mcpToolCall",
        "id": "c1",
        "server": "box",
        "tool": "wipe",
        "status": "completed",
        "arguments": {"diskName": "a"},
        "result": {"content": [{"type": "text", "text": "wiped"}]},
        "error": None,
    }
    [event] = read(reader("T"), note("item/completed", item=item))
    assert event == ToolFinished("c1", "box.wipe", {"diskName": "a"}, "wiped")


def test_a_declined_command_is_an_error_and_its_turn_was_refused_it() -> None:
    item = {"type": "commandExecution", "id": "c1", "command": "x", "aggregatedOutput": None}
    stream = reader("T", REFUSED_CALL)
    [event] = read(stream, note("item/completed", item={**item, "status": "declined"}))
    assert isinstance(event, ToolFinished)
    assert (event.result, event.is_error) == ("declined", True)
    read(stream, COMPLETED)
    with pytest.raises(PermissionRefused, match=r"exec_command\(touch made\)"):
        stream.raise_failure(0, "")


def test_a_usage_limit_says_when_it_resets() -> None:
    stream = reader("T")
    assert read(stream, USED_UP) == [UsageWindow("five_hour", 100, RESET)]
    error = error_of(USED_UP, failed("You've hit your usage limit.", "usageLimitExceeded"))
    assert isinstance(error, UsageLimit)
    assert error.resets_at(RESET) == RESET
    assert error.limit_kind == "five_hour"


@pytest.mark.parametrize(
    ("message", "info", "kind"),
    [
        (
            "last status: 429",
            {"responseTooManyFailedAttempts": {"httpStatusCode": 429}},
            "requests",
        ),
        ("unexpected status 529", {"httpConnectionFailed": {"httpStatusCode": 529}}, "overload"),
        ("Selected model is at capacity", "serverOverloaded", "overload"),
    ],
)
def test_too_many_requests_and_an_overload_are_limits(
    message: str, info: object, kind: str
) -> None:
    error = error_of(failed(message, info))
    assert isinstance(error, UsageLimit)
    assert error.limit_kind == kind


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([failed('{"error": {"message": "bad request"}}', "other")], "bad request"),
        ([note("turn/completed", turn={"status": "interrupted"})], "the turn was interrupted"),
        ([{"id": "resume", "error": {"message": "has an active writer"}}], "has an active writer"),
        ([], "Codex exited with code 0"),
    ],
)
def test_other_errors_are_failures(messages: list[dict[str, Any]], text: str) -> None:
    error = error_of(*messages)
    assert isinstance(error, AgentFailed)
    assert text in str(error)


def test_codex_that_was_killed_is_named() -> None:
    assert "killed" in str(error_of(exit_code=137))


@pytest.mark.parametrize("text", [b"", b"not JSON", b"[]", b"\xff"])
def test_other_output_is_passed_over(text: bytes) -> None:
    assert list(reader("T").read(text)) == []
