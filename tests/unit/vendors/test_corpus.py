"""Files written by many versions of the real agents, compared with their known content."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from navi.vendors.claude_code.history import ClaudeCodeSource
from navi.vendors.codex.history import CodexSource
from navi.vendors.source import Source
from tests.paths import CORPUS
from tests.unit.vendors.rows import EXPECTED, Rows, rows_of, total, written

SOURCES: dict[str, Source] = {"claude": ClaudeCodeSource(), "codex": CodexSource()}
CLAUDE = sorted(path for path, expected in EXPECTED.items() if expected["client"] == "claude")
CODEX = sorted(path for path, expected in EXPECTED.items() if expected["client"] == "codex")


def check_what_was_said(rows: Rows, expected: dict[str, Any]) -> None:
    assert rows.words("user") == expected["user_prompts"]
    assert rows.words("assistant") == expected["assistant_texts"]
    assert rows.thoughts == [thought for thought in expected["thinking"] if thought]
    assert [call.tool_name for call in rows.tool_calls] == expected["tool_calls"]
    assert set(expected["client_notices"]) <= set(rows.words("system"))
    assert rows.session.cwd in (expected["cwds"] or [None])
    assert rows.session.model in (expected["models"] or [None])
    assert rows.session.bad_lines == 0
    assert rows.session.unknown_kinds == {}


@pytest.mark.parametrize("path", CLAUDE)
def test_a_transcript_of_claude_code_is_read_as_it_was_written(path: str) -> None:
    expected, rows = EXPECTED[path], rows_of(SOURCES["claude"], CORPUS / path)
    check_what_was_said(rows, expected)
    tokens = expected["tokens"]
    assert rows.tokens == (tokens["in"], tokens["out"], tokens["read"], tokens["write"])
    assert len(rows.by_key) == expected["api_messages"]
    assert rows.session.title == expected["title"]
    assert rows.session.is_subagent == expected["sidechain"]
    if expected["sidechain"]:
        assert [rows.session.parent_source_session_id] == expected["session"]
        assert rows.session.source_session_id == Path(path).stem
    elif expected["session"]:
        assert [rows.session.source_session_id] == expected["session"]
        assert rows.session.parent_source_session_id is None


@pytest.mark.parametrize("path", CODEX)
def test_a_rollout_of_codex_is_read_as_it_was_written(path: str) -> None:
    expected, rows = EXPECTED[path], rows_of(SOURCES["codex"], CORPUS / path)
    check_what_was_said(rows, expected)
    fresh, output, cached, written = rows.tokens
    assert expected["tokens"] == {
        "input_tokens": fresh + cached + written,
        "cached_input_tokens": cached,
        "output_tokens": output,
    }
    assert rows.session.source_session_id == expected["session"]
    assert rows.session.parent_source_session_id == expected["parent"]
    assert rows.session.is_subagent == (expected["root"] not in (None, expected["session"]))
    assert all(call.message_idx is None for call in rows.tool_calls)


@pytest.mark.parametrize("path", [*CLAUDE, *CODEX])
def test_what_is_passed_over_unread_would_say_nothing(path: str, tmp_path: Path) -> None:
    """With other spacing and key order, no line can be recognised by its first bytes."""
    source, file = SOURCES[path.split("/")[0]], tmp_path / path
    lines = (CORPUS / path).read_text().splitlines()
    written(file, *(spaced(json.loads(line)) for line in lines))
    slow, fast = rows_of(source, file), rows_of(source, CORPUS / path)
    # A rollout's name is in a file beside it.
    slow.session.title = fast.session.title
    assert (slow.messages, slow.tool_calls, slow.by_key, slow.session) == (
        fast.messages,
        [call._replace(tool_input=ANY) for call in fast.tool_calls],
        fast.by_key,
        fast.session,
    )


@pytest.mark.parametrize("path", CLAUDE)
def test_a_real_history_appended_again_with_new_uuids_counts_once(
    path: str, tmp_path: Path
) -> None:
    lines = (CORPUS / path).read_bytes().splitlines()
    again = [written_again(json.loads(line)) for line in lines]
    file = tmp_path / path
    once = rows_of(SOURCES["claude"], written(file, *lines))
    twice = rows_of(SOURCES["claude"], written(file, *lines, *again))
    first = rows_of(SOURCES["claude"], written(file, *lines))
    grown = first.read(SOURCES["claude"], written(file, *lines, *again), first.mark)
    for rows in (twice, grown):
        assert (rows.messages, rows.tool_calls) == (once.messages, once.tool_calls)
        assert rows.tokens == once.tokens


def written_again(line: dict[str, Any]) -> dict[str, Any]:
    return {**line, "uuid": f"new-{line['uuid']}"} if "uuid" in line else line


def spaced(line: dict[str, Any]) -> bytes:
    return json.dumps({"padding": " " * 200, **dict(reversed(line.items()))}).encode()


def test_every_version_s_shell_commands_are_found_without_the_shell_around_them() -> None:
    commands = {
        call.command
        for path, expected in EXPECTED.items()
        for call in rows_of(SOURCES[expected["client"]], CORPUS / path).tool_calls
        if call.tool_name in ("Bash", "shell", "shell_command", "exec_command")
    }
    assert {"ls", "echo A", "echo B >&2; exit 3", "wc -l README.md", "seq 1 3000"} <= commands
    assert not any(command is None or command.startswith("bash") for command in commands)


def test_warm_ups_are_recognised() -> None:
    warm = [path for path in CLAUDE if rows_of(SOURCES["claude"], CORPUS / path).session.is_warmup]
    assert len(warm) == 8
    assert all(EXPECTED[path]["assistant_texts"] == ["ok: Warmup"] for path in warm)


def test_the_name_a_person_gave_to_a_rollout_is_its_title() -> None:
    [path] = [path for path in CODEX if path.startswith("codex/0.166.0-tui/")]
    assert rows_of(SOURCES["codex"], CORPUS / path).session.title == "nice name"


@pytest.fixture
def full_home(private_home: Path) -> Path:
    for version in (CORPUS / "claude").iterdir():
        shutil.copytree(version, private_home, dirs_exist_ok=True)
    for version in (CORPUS / "codex").iterdir():
        shutil.copytree(version, private_home, dirs_exist_ok=True)
    return private_home


def read_all(source: Source) -> Iterator[Rows]:
    for file in source.discover():
        yield rows_of(source, file.path)


def test_in_a_home_with_all_of_them_every_file_is_found_once(full_home: Path) -> None:
    for source, paths in ((ClaudeCodeSource(), CLAUDE), (CodexSource(), CODEX)):
        files = [file.path for file in source.discover()]
        assert len(files) == len(set(files))
        names = {str(Path(path).relative_to(full_home)) for path in files}
        assert names == {path.split("/", 2)[2] for path in paths if EXPECTED[path]["lines"]}


def test_in_a_home_with_all_of_them_copied_answers_cost_nothing_more(full_home: Path) -> None:
    every = [usage for rows in read_all(ClaudeCodeSource()) for usage in rows.by_key.values()]
    once = {usage.key: usage for usage in every}
    assert len(once) < len(every)
    assert total(once.values()) == known_cost(full_home / ".claude")


def known_cost(home: Path) -> tuple[int, int, int, int]:
    """The largest usage that any line reports for each answer, computed the slow way."""
    fields = ("input", "output", "cache_read_input", "cache_creation_input")
    answers: dict[str, list[int]] = {}
    for path in home.glob("projects/**/*.jsonl"):
        for line in path.read_text().splitlines():
            value = json.loads(line)
            if value.get("type") == "assistant" and value["message"]["model"] != "<synthetic>":
                usage = value["message"]["usage"]
                spent = [usage.get(f"{name}_tokens", 0) for name in fields]
                largest = answers.setdefault(value["message"]["id"], spent)
                answers[value["message"]["id"]] = [
                    max(pair) for pair in zip(largest, spent, strict=True)
                ]
    input_tokens, output, read, written = (
        sum(column) for column in zip(*answers.values(), strict=True)
    )
    return input_tokens, output, read, written


def test_in_a_home_with_all_of_them_sub_agents_have_their_parents(full_home: Path) -> None:
    for source in (ClaudeCodeSource(), CodexSource()):
        sessions = {rows.session.source_session_id: rows.session for rows in read_all(source)}
        agents = [session for session in sessions.values() if session.is_subagent]
        assert agents
        for agent in agents:
            if not agent.is_warmup:
                assert agent.parent_source_session_id in sessions
