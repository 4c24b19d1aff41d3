"""How turns of Claude Code and Codex ended, read from lines of the real clients.

`recorded` has runs of Claude Code 2.1.325 and Codex 0.166.0 on a stand-in for their models, without
the lines and fields that say nothing about how a turn ended.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from navi.base.errors import AgentFailed, Interrupted, NaviError, PermissionRefused, UsageLimit
from navi.live.model.event import ToolFinished, Usage, UsageWindow
from navi.vendors.claude_code.stream import ClaudeCodeReader
from navi.vendors.claude_code.transcript import ClaudeCodeTranscriptReader
from navi.vendors.codex.ending import CodexEnding, last_turn
from navi.vendors.codex.home import CodexHome
from navi.vendors.codex.stream import CodexReader
from navi.vendors.codex.transcript import CodexTranscriptReader

RECORDED = Path(__file__).parent / "recorded"
NOW = datetime(2026, 11, 18, 3, 4, tzinfo=UTC)
RESET = datetime(2033, 5, 18, 3, 33, 19, tzinfo=UTC)

DENIED_BY_CODEX = [
    ("escalation", "exec_command(touch esc)"),
    ("patch", "exec_command(apply_patch <<'EOF' *** Begin Patch *** Add File: inside.txt +hi"),
    ("rule", "exec_command(git push), exec_command(git pull)"),
    ("mcp", "poke"),
]
LIMITS_OF_CODEX = [
    ("rate-limit", "last status: 429", None),
    ("overloaded", "unexpected status 529", None),
    ("at-capacity", "Selected model is at capacity", None),
    ("usage-limit", "hit your usage limit", RESET),
]


CODEX_INTERRUPTED = ("task_started", "turn_aborted")
SUB_AGENT_LIMITED = (
    "Agent terminated early due to an API error: You've hit your 5-hour limit · resets 4:26am "
    "(UTC) (error type rate_limit, HTTP 429, model sent to the API: claude-sonnet-5-5)"
)


def recorded(name: str) -> list[bytes]:
    return (RECORDED / f"{name}.jsonl").read_bytes().splitlines()


def error_of_stream(
    reader: ClaudeCodeReader | CodexReader, lines: Sequence[bytes]
) -> NaviError | None:
    for line in lines:
        list(reader.read(line))
    has_failed = any(
        b'"is_error":true,"num_turns"' in line or b"turn.failed" in line for line in lines
    )
    try:
        reader.raise_failure(1 if has_failed else 0, "")
    except NaviError as error:
        return error
    return None


def error_of_transcript(
    reader: ClaudeCodeTranscriptReader | CodexTranscriptReader, lines: Sequence[bytes]
) -> NaviError | None:
    for line in lines:
        list(reader.read(line))
    try:
        reader.raise_failure()
    except NaviError as error:
        return error
    return None


def error_of_claude_code(case: str, where: str) -> NaviError | None:
    lines = recorded(f"claude-code-{case}.{where}")
    if where == "stream":
        return error_of_stream(ClaudeCodeReader(), lines)
    return error_of_transcript(ClaudeCodeTranscriptReader(), lines)


def error_of_codex(case: str, where: str) -> NaviError | None:
    rollout = recorded(f"codex-{case}.rollout")
    if where == "rollout":
        return error_of_transcript(CodexTranscriptReader(), rollout)
    reader = CodexReader(Usage(), lambda thread: rollout if thread else [])
    return error_of_stream(reader, recorded(f"codex-{case}.exec"))


@pytest.mark.parametrize("where", ["stream", "transcript"])
def test_calls_that_claude_code_was_refused_are_named(where: str) -> None:
    error = error_of_claude_code("denied", where)

    assert isinstance(error, PermissionRefused)
    path = "/home/ada/project/a.txt" if where == "stream" else "a.txt"
    assert error.message == f"refused: Bash(touch hello), Write({path})"
    assert "[claude_code]" in error.hint


@pytest.mark.parametrize("where", ["stream", "transcript"])
@pytest.mark.parametrize(
    ("case", "words", "resets_at"),
    [
        ("rate-limit", "Request rejected (429)", None),
        ("overloaded", "API Error: 529", None),
        ("usage-limit", "You've hit your limit", RESET),
    ],
)
def test_a_limit_of_claude_code_is_distinguished_from_a_failure(
    case: str, words: str, resets_at: datetime | None, where: str
) -> None:
    error = error_of_claude_code(case, where)

    assert isinstance(error, UsageLimit)
    assert words in error.message
    assert error.resets_at(NOW) == resets_at


@pytest.mark.parametrize("where", ["stream", "transcript"])
def test_an_error_of_the_server_is_still_a_failure_of_claude_code(where: str) -> None:
    assert isinstance(error_of_claude_code("server-error", where), AgentFailed)


def test_an_older_claude_code_says_when_its_limit_resets_at_the_end_of_its_words() -> None:
    result = {
        "type": "result",
        "subtype": "success",
        "is_error": True,
        "num_turns": 1,
        "result": "Claude AI usage limit reached|1999999999",
    }
    reader = ClaudeCodeReader()
    list(reader.read(json.dumps(result).encode()))

    with pytest.raises(UsageLimit) as limit:
        reader.raise_failure(1, "")
    assert limit.value.resets_at(NOW) == RESET


def test_a_call_that_was_interrupted_was_not_refused() -> None:
    lines = [
        line.replace(b'"toolDenialKind":"user-rejected"', b'"toolDenialKind":"interrupted"')
        for line in recorded("claude-code-denied.transcript")
    ]
    assert error_of_transcript(ClaudeCodeTranscriptReader(), lines) is None


@pytest.mark.parametrize("where", ["exec", "rollout"])
@pytest.mark.parametrize(("case", "calls"), DENIED_BY_CODEX)
def test_calls_that_codex_was_refused_are_named(case: str, calls: str, where: str) -> None:
    error = error_of_codex(f"denied-{case}", where)

    assert isinstance(error, PermissionRefused)
    assert error.message.startswith(f"refused: {calls}")
    assert "[codex]" in error.hint


def test_a_refused_call_of_codex_is_shown_as_one_that_failed() -> None:
    reader = CodexTranscriptReader()
    events = [
        event
        for line in recorded("codex-denied-escalation.rollout")
        for event in reader.read(line)
        if isinstance(event, ToolFinished)
    ]
    assert [event.is_error for event in events] == [True]


@pytest.mark.parametrize("where", ["exec", "rollout"])
def test_a_command_that_failed_in_the_sandbox_of_codex_was_not_refused(where: str) -> None:
    assert error_of_codex("sandbox-failure", where) is None


def test_a_command_that_prints_the_words_of_a_refusal_was_not_refused() -> None:
    printed = b"Process exited with code 1\\nOutput:\\npatch rejected: no, Rejected(x)"
    lines = [
        line.replace(b"patch rejected: writing is blocked by read-only sandbox", printed)
        for line in recorded("codex-denied-patch.rollout")
    ]
    assert error_of_transcript(CodexTranscriptReader(), lines) is None


@pytest.mark.parametrize("where", ["exec", "rollout"])
@pytest.mark.parametrize(("case", "words", "resets_at"), LIMITS_OF_CODEX)
def test_a_limit_of_codex_is_distinguished_from_a_failure(
    case: str, words: str, resets_at: datetime | None, where: str
) -> None:
    error = error_of_codex(case, where)

    assert isinstance(error, UsageLimit)
    assert words in error.message
    assert error.resets_at(NOW) == resets_at


@pytest.mark.parametrize(("case", "words", "resets_at"), LIMITS_OF_CODEX)
def test_a_limit_of_codex_is_seen_without_its_rollout_too(
    case: str, words: str, resets_at: datetime | None
) -> None:
    error = error_of_stream(CodexReader(Usage()), recorded(f"codex-{case}.exec"))

    assert isinstance(error, UsageLimit)
    assert words in error.message


@pytest.mark.parametrize("where", ["exec", "rollout"])
def test_an_error_of_the_server_is_still_a_failure_of_codex(where: str) -> None:
    assert isinstance(error_of_codex("server-error", where), AgentFailed)


def test_only_the_last_turn_of_a_rollout_counts(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "2026" / "11" / "18"
    folder.mkdir(parents=True)
    refused, good = recorded("codex-denied-rule.rollout"), recorded("codex-sandbox-failure.rollout")
    rollout = folder / "rollout-2026-11-18T03-03-53-thread.jsonl"
    rollout.write_bytes(b"\n".join([*refused, *good]) + b"\n")

    assert last_turn(CodexHome(tmp_path), "thread") == good
    assert last_turn(CodexHome(tmp_path), "another") == []


def test_many_refused_calls_are_counted_and_each_is_named_once() -> None:
    calls = ["Bash(a)"] * 5 + [f"Bash({number})" for number in range(12)]
    refusal = PermissionRefused(calls)

    assert refusal.message.startswith("refused: Bash(a), Bash(0), Bash(1)")
    assert refusal.message.endswith(", Bash(8) and 3 more")


def test_claude_code_says_how_much_of_each_allowance_is_used() -> None:
    five_hour = {"utilization": 0.93, "resetsAt": int(RESET.timestamp())}
    info = {
        "status": "allowed_warning",
        "rateLimitType": "five_hour",
        **five_hour,
        "unifiedWindows": {"five_hour": five_hour, "seven_day": {"utilization": 0.4}},
    }
    line = json.dumps({"type": "rate_limit_event", "rate_limit_info": info}).encode()
    assert list(ClaudeCodeReader().read(line)) == [
        UsageWindow("seven_day", 40.0, None),
        UsageWindow("five_hour", 93.0, RESET),
    ]


def test_an_allowance_that_claude_code_says_is_used_up_names_the_limit() -> None:
    reader = ClaudeCodeReader()
    info = {"status": "rejected", "resetsAt": int(RESET.timestamp()), "rateLimitType": "five_hour"}
    limit = json.dumps({"type": "rate_limit_event", "rate_limit_info": info}).encode()
    assert list(reader.read(limit)) == [UsageWindow("five_hour", 100.0, RESET)]
    result = {"type": "result", "is_error": True, "result": "You've hit your limit"}
    list(reader.read(json.dumps(result).encode()))
    with pytest.raises(UsageLimit) as error:
        reader.raise_failure(1, "")
    assert (error.value.limit_kind, error.value.resets_at(NOW)) == ("five_hour", RESET)


@pytest.mark.parametrize(("status", "kind"), [(429, "requests"), (529, "overload")])
def test_without_an_allowance_the_status_names_the_kind_of_limit(status: int, kind: str) -> None:
    reader = ClaudeCodeReader()
    result = {"type": "result", "is_error": True, "result": "no", "api_error_status": status}
    list(reader.read(json.dumps(result).encode()))
    with pytest.raises(UsageLimit) as error:
        reader.raise_failure(1, "")
    assert (error.value.limit_kind, error.value.resets_at(NOW)) == (kind, None)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"terminal_reason": "tool_deferred"}, "stopped before it was done: tool deferred"),
        ({"terminal_reason": "hook_stopped"}, "stopped before it was done: hook stopped"),
        ({"terminal_reason": "completed", "stop_reason": "max_tokens"}, "answer was cut off"),
        ({"terminal_reason": "completed", "stop_reason": "end_turn"}, None),
        ({}, None),
    ],
)
def test_a_turn_that_was_cut_off_is_not_ok_though_no_error_is_told(
    fields: dict[str, str], problem: str | None
) -> None:
    result = {"type": "result", "is_error": False, "result": "so far", **fields}
    error = error_of_stream(ClaudeCodeReader(), [json.dumps(result).encode()])
    assert (error is None) if problem is None else (error is not None and problem in error.message)


@pytest.mark.parametrize(
    ("ends", "is_limited"),
    [
        ([("a", "failed", SUB_AGENT_LIMITED)], True),
        ([("a", "failed", SUB_AGENT_LIMITED), ("a", "completed", 'Agent "x" completed')], False),
        ([("a", "failed", SUB_AGENT_LIMITED), ("b", "completed", 'Agent "y" completed')], True),
        ([("a", "failed", 'Background command "try the rate limit" failed')], False),
    ],
)
def test_a_turn_whose_sub_agent_met_a_limit_has_met_it_unless_it_was_continued(
    ends: Sequence[tuple[str, str, str]], is_limited: bool
) -> None:
    info = {"status": "rejected", "rateLimitType": "five_hour", "resetsAt": RESET.timestamp()}
    tasks = [
        {
            "type": "system",
            "subtype": "task_notification",
            "task_id": task_id,
            "status": status,
            "summary": summary,
        }
        for task_id, status, summary in ends
    ]
    lines = [
        {"type": "rate_limit_event", "rate_limit_info": info},
        *tasks,
        {"type": "result", "is_error": False, "result": "main done"},
    ]
    error = error_of_stream(ClaudeCodeReader(), [json.dumps(line).encode() for line in lines])
    if not is_limited:
        assert error is None
        return
    assert isinstance(error, UsageLimit)
    assert (error.limit_kind, error.resets_at(NOW)) == ("five_hour", RESET)


def test_a_turn_that_a_person_interrupted_in_the_terminal_is_not_ok() -> None:
    prompt = {"type": "user", "message": {"content": "go on"}}
    escape = {"type": "user", "message": {"content": "[Request interrupted by user]"}}
    lines = [json.dumps(line).encode() for line in (prompt, escape)]
    assert isinstance(error_of_transcript(ClaudeCodeTranscriptReader(), lines), Interrupted)

    events = [{"type": "event_msg", "payload": {"type": kind}} for kind in CODEX_INTERRUPTED]
    lines = [json.dumps(line).encode() for line in events]
    assert isinstance(error_of_transcript(CodexTranscriptReader(), lines), Interrupted)


def test_codex_says_how_much_is_used_and_an_allowance_with_room_is_not_the_limit() -> None:
    limits = {
        "primary": {"used_percent": 62.0, "window_minutes": 300, "resets_at": RESET.timestamp()},
        "secondary": {"used_percent": 18.5, "window_minutes": 10080, "resets_at": None},
    }
    count = {"type": "event_msg", "payload": {"type": "token_count", "rate_limits": limits}}
    error = {"message": "too fast", "codex_error_info": "rate_limit_exceeded"}
    end = {"type": "event_msg", "payload": {"type": "task_complete", "error": error}}
    ending = CodexEnding.of([json.dumps(line).encode() for line in (count, end)])
    assert ending.windows == [
        UsageWindow("five_hour", 62.0, RESET),
        UsageWindow("seven_day", 18.5, None),
    ]
    assert isinstance(ending.failure, UsageLimit)
    assert ending.failure.resets_at(NOW) is None


def test_claude_code_that_was_killed_after_it_had_put_a_call_off_was_killed() -> None:
    reader = ClaudeCodeReader()
    result = {"type": "result", "subtype": "success", "is_error": False}
    list(reader.read(json.dumps({**result, "stop_reason": "tool_deferred"}).encode()))
    with pytest.raises(AgentFailed, match="was killed"):
        reader.raise_failure(137, "")


def test_a_call_that_an_earlier_turn_had_put_off_does_not_make_this_one_denied() -> None:
    reader = ClaudeCodeReader()
    block = {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "content": "stopped",
        "is_error": True,
    }
    denial = {"tool_name": "AskUserQuestion", "tool_use_id": "toolu_1", "tool_input": {}}
    result = {"type": "result", "subtype": "success", "is_error": False}
    for record in (
        {"type": "user", "message": {"content": [block]}},
        {**result, "permission_denials": [denial]},
        result,
    ):
        list(reader.read(json.dumps(record).encode()))
    reader.raise_failure(0, "")
