"""What tools printed, as the transcripts of each agent have it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from navi.memory.model import PastOutput
from navi.vendors.claude_code.history import ClaudeCodeSource
from navi.vendors.codex.history import CodexSource
from tests.unit.vendors.rows import Rows, rows_of, written

AT = "2026-11-15T12:00:0{}.000Z"


def claude_call(number: int, tool: str = "Bash") -> dict[str, Any]:
    block = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": {}}
    message = {"id": f"m{number}", "role": "assistant", "content": [block]}
    return {"type": "assistant", "message": message, "timestamp": AT.format(2 * number)}


def claude_result(number: int, content: Any, **fields: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": f"t{number}", "content": content, **fields}
    message = {"role": "user", "content": [block]}
    return {"type": "user", "message": message, "timestamp": AT.format(2 * number + 1)}


def claude(path: Path, *lines: Any) -> Rows:
    return rows_of(ClaudeCodeSource(), written(path / "s.jsonl", *lines))


def codex_item(**payload: Any) -> dict[str, Any]:
    return {"timestamp": AT.format(0), "type": "response_item", "payload": payload}


def codex(path: Path, output: Any) -> Rows:
    call = {"name": "exec_command", "arguments": '{"cmd":"ls"}', "call_id": "c1"}
    lines = [
        codex_item(type="function_call", **call),
        codex_item(type="function_call_output", call_id="c1", output=output),
    ]
    return rows_of(CodexSource(), written(path / "rollout-x.jsonl", *lines))


def places(outputs: list[PastOutput]) -> list[tuple[int | None, int, str, str]]:
    return [(each.message_idx, each.call_idx, each.tool_name, each.text) for each in outputs]


def test_an_output_belongs_to_the_call_it_answers(tmp_path: Path) -> None:
    rows = claude(
        tmp_path,
        claude_call(0),
        claude_result(0, "README.md"),
        claude_call(1, "Grep"),
        claude_result(1, [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]),
    )
    assert places(rows.outputs) == [(0, 0, "Bash", "README.md"), (1, 0, "Grep", "one\ntwo")]


def test_a_repeated_result_is_one_output(tmp_path: Path) -> None:
    call, result = claude_call(0), claude_result(0, "README.md")
    assert len(claude(tmp_path, call, result, call, result, result).outputs) == 1


def test_a_result_whose_call_was_read_earlier_finds_its_place(tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl", claude_call(0))
    mark = rows_of(ClaudeCodeSource(), path).mark
    written(path, claude_call(0), claude_result(0, "README.md"))
    rows = rows_of(ClaudeCodeSource(), path, mark)
    assert places(rows.outputs) == [(0, 0, "Bash", "README.md")]


def test_an_edit_that_worked_has_no_output_but_one_that_failed_has(tmp_path: Path) -> None:
    rows = claude(
        tmp_path,
        claude_call(0, "Edit"),
        claude_result(0, "The file a.py has been updated successfully."),
        claude_call(1, "Edit"),
        claude_result(1, "String to replace not found in file.", is_error=True),
    )
    assert [each.text for each in rows.outputs] == ["String to replace not found in file."]


@pytest.mark.parametrize("content", [None, 7, {"a": 1}, [{"type": "image"}], [3], "", []])
def test_a_result_without_text_is_no_output_and_no_damage(tmp_path: Path, content: Any) -> None:
    rows = claude(tmp_path, claude_call(0), claude_result(0, content))
    assert (rows.outputs, rows.session.bad_lines) == ([], 0)


def test_half_an_emoji_in_a_result_is_replaced(tmp_path: Path) -> None:
    rows = claude(tmp_path, claude_call(0), claude_result(0, "cut \ud83d here"))
    assert [each.text for each in rows.outputs] == ["cut \ufffd here"]


@pytest.mark.parametrize(
    "output",
    [
        "a.py\n",
        "Chunk ID: 2f\nWall time: 0.1 seconds\nProcess exited with code 0\n"
        "Original token count: 5\nOutput:\na.py\n",
        "Exit code: 0\nWall time: 0 seconds\nOutput:\na.py\n",
        json.dumps({"output": "a.py\n", "metadata": {"exit_code": 0}}),
        [{"type": "input_text", "text": "a.py\n"}],
    ],
)
def test_codex_outputs_of_every_version_are_what_was_printed(tmp_path: Path, output: Any) -> None:
    assert places(codex(tmp_path, output).outputs) == [(None, 0, "exec_command", "a.py\n")]


@pytest.mark.parametrize("output", ["Plan updated", None, 7, {"a": 1}, ""])
def test_codex_outputs_that_say_nothing_are_left_out(tmp_path: Path, output: Any) -> None:
    rows = codex(tmp_path, output)
    assert (rows.outputs, rows.session.bad_lines) == ([], 0)


def test_a_call_of_claude_code_failed_if_its_result_says_so(tmp_path: Path) -> None:
    rows = claude(
        tmp_path,
        claude_call(0),
        claude_result(0, "2 passed"),
        claude_call(1),
        claude_result(1, "", is_error=True),
    )
    assert [(each.text, each.is_error) for each in rows.outputs] == [
        ("2 passed", False),
        ("", True),
    ]


@pytest.mark.parametrize(
    ("output", "is_error"),
    [
        ("Chunk ID: 2f\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nE", True),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nE", False),
        (json.dumps({"output": "E", "metadata": {"exit_code": 2}}), True),
        (json.dumps({"output": "E", "metadata": None}), None),
        ("E", None),
        ("E\nExit code: 1\n", None),
    ],
)
def test_a_call_of_codex_failed_if_its_exit_code_says_so(
    tmp_path: Path, output: str, is_error: bool | None
) -> None:
    assert [each.is_error for each in codex(tmp_path, output).outputs] == [is_error]
