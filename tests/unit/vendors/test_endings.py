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

from navi.base.errors import AgentFailed, NaviError, PermissionRefused, UsageLimit
from navi.live.model.event import ToolFinished, Usage
from navi.vendors.claude_code.stream import ClaudeCodeReader
from navi.vendors.claude_code.transcript import ClaudeCodeTranscriptReader
from navi.vendors.codex.ending import last_turn
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
def test_a_limit_of_claude_code_is_told_from_a_failure(
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
def test_a_limit_of_codex_is_told_from_a_failure(
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
