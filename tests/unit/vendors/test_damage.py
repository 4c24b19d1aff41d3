"""Damaged files: readable lines are read, the rest are counted."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from navi.vendors import growing_file
from navi.vendors.claude_code.history import ClaudeCodeSource
from navi.vendors.codex.history import CodexSource
from navi.vendors.source import Source
from tests.paths import CORPUS
from tests.unit.vendors.rows import EXPECTED, rows_of, written

BOTH = pytest.mark.parametrize(
    "source", [ClaudeCodeSource(), CodexSource()], ids=["claude_code", "codex"]
)


def prompt(source: Source, text: Any) -> dict[str, Any]:
    if isinstance(source, ClaudeCodeSource):
        return {"type": "user", "message": {"role": "user", "content": text}}
    content = [{"type": "input_text", "text": text}]
    return {
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": content},
    }


@BOTH
@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(b'{"type":"user","message":{"role":"us', id="torn"),
        pytest.param(b"\x00\x01\x02\xff\xfe binary", id="binary"),
        pytest.param(b"[1, 2]", id="a list"),
        pytest.param(b'"text"', id="a text"),
        pytest.param(b'{"type": 5}', id="a number for its kind"),
        pytest.param(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, id="nested too deeply"),
        pytest.param(b"[" * 100_000, id="only opening"),
        pytest.param(b'{"type":"user"} {"type":"user"}', id="two values"),
    ],
)
def test_a_bad_line_is_counted_and_the_others_are_read(
    source: Source, bad: bytes, tmp_path: Path
) -> None:
    file = written(tmp_path / "a.jsonl", prompt(source, "one"), bad, prompt(source, "two"))
    rows = rows_of(source, file)
    assert rows.words("user") == ["one", "two"]
    assert rows.session.bad_lines == 1


@BOTH
def test_empty_lines_are_ignored(source: Source, tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", b"", prompt(source, "one"), b"   ", b"\r")
    rows = rows_of(source, file)
    assert rows.words("user") == ["one"]
    assert rows.session.bad_lines == 0


@BOTH
def test_lines_may_end_as_on_windows_and_begin_with_a_byte_order_mark(
    source: Source, tmp_path: Path
) -> None:
    first = b"\xef\xbb\xbf" + json.dumps(prompt(source, "one")).encode()
    file = written(tmp_path / "a.jsonl", first, prompt(source, "two"), end="\r\n")
    assert rows_of(source, file).words("user") == ["one", "two"]


@BOTH
@pytest.mark.parametrize(
    ("content", "bad_lines"), [(b"", 0), (b"no line's end", 1), (b"\x00" * 5000, 1)]
)
def test_a_file_without_a_whole_line_has_no_rows(
    source: Source, content: bytes, bad_lines: int, tmp_path: Path
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(content)
    rows = rows_of(source, file)
    assert (rows.messages, rows.session.bad_lines) == ([], bad_lines)
    assert rows.session.is_readable == (not bad_lines)


@BOTH
def test_damaged_lines_are_known_by_their_numbers(source: Source, tmp_path: Path) -> None:
    good = prompt(source, "one")
    file = written(tmp_path / "a.jsonl", good, b"{broken", b"", good, b"[]")
    first = rows_of(source, file)
    assert (first.session.bad_line_numbers, first.session.is_readable) == ([2, 5], True)
    with file.open("ab") as end:
        end.write(b"\n{again}\n")
    assert rows_of(source, file, first.mark).session.bad_line_numbers == [2, 5, 7]


@BOTH
def test_a_binary_file_is_read_to_its_end(source: Source, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(random.Random(1).randbytes(300_000) + b"\n")
    rows = rows_of(source, file)
    assert rows.messages == []
    assert rows.session.bad_lines > 100


@BOTH
def test_half_an_emoji_does_not_cost_the_rest_of_its_line(source: Source, tmp_path: Path) -> None:
    whole, half = prompt(source, "whole \U0001f600"), prompt(source, "half \ud83d!")
    file = written(tmp_path / "a.jsonl", whole, half)
    rows = rows_of(source, file)
    assert rows.words("user") == ["whole \U0001f600", "half \ufffd!"]
    assert rows.session.bad_lines == 0


@BOTH
def test_bytes_that_are_not_utf_8_do_not_cost_the_rest_of_their_line(
    source: Source, tmp_path: Path
) -> None:
    line = json.dumps(prompt(source, "caf#")).encode().replace(b"#", b"\xe9")
    rows = rows_of(source, written(tmp_path / "a.jsonl", line))
    assert rows.words("user") == ["caf\ufffd"]


@BOTH
@pytest.mark.parametrize("time", [12345, "yesterday", {"a": 1}, ""])
def test_a_time_that_is_none_does_not_cost_the_text(
    source: Source, time: Any, tmp_path: Path
) -> None:
    rows = rows_of(
        source, written(tmp_path / "a.jsonl", {**prompt(source, "a"), "timestamp": time})
    )
    assert [(m.content, m.timestamp) for m in rows.messages] == [("a", None)]


@BOTH
def test_a_line_too_long_to_hold_is_counted_and_passed(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing_file, "LONGEST_LINE_BYTES", 10_000)
    monkeypatch.setattr(growing_file, "BLOCK_BYTES", 1_000)
    long = prompt(source, "x" * 50_000)
    for content in ([long, prompt(source, "one")], [prompt(source, "one"), long]):
        file = written(tmp_path / "a.jsonl", *content)
        rows = rows_of(source, file)
        assert rows.words("user") == ["one"]
        assert rows.session.bad_lines == 1
        with file.open("a") as end:
            end.write(json.dumps(prompt(source, "two")) + "\n")
        assert rows.read(source, file, rows.mark).words("user") == ["one", "two"]


def test_tokens_that_cannot_be_are_left_out(tmp_path: Path) -> None:
    usage = {"input_tokens": 10**30, "output_tokens": -5}
    message = {"id": "m", "content": [{"type": "text", "text": "hello"}], "usage": usage}
    file = written(tmp_path / "a.jsonl", {"type": "assistant", "message": message})
    rows = rows_of(ClaudeCodeSource(), file)
    assert rows.words("assistant") == ["hello"]
    assert rows.by_key == {}


def test_half_an_emoji_in_a_command_does_not_cost_the_command(tmp_path: Path) -> None:
    block = {"type": "tool_use", "name": "Bash", "input": {"command": "echo \ud83d"}}
    line = {"type": "assistant", "message": {"id": "m", "content": [block]}}
    [call] = rows_of(ClaudeCodeSource(), written(tmp_path / "a.jsonl", line)).tool_calls
    assert call.command == "echo \ufffd"
    assert json.loads(call.tool_input or "") == {"command": "echo \ufffd"}


def test_unknown_kinds_are_counted_by_name(tmp_path: Path) -> None:
    claude = written(tmp_path / "a.jsonl", {"type": "new"}, {"type": "new"}, {"other": 1})
    assert rows_of(ClaudeCodeSource(), claude).session.unknown_kinds == {"new": 2, "(no type)": 1}
    codex = written(
        tmp_path / "b.jsonl",
        {"type": "new", "payload": {}},
        {"type": "event_msg", "payload": {"type": "newer"}},
        {"type": "response_item", "payload": {"type": "newest"}},
        {"type": "bare"},
    )
    assert rows_of(CodexSource(), codex).session.unknown_kinds == {
        "new": 1,
        "event_msg/newer": 1,
        "response_item/newest": 1,
        "bare": 1,
    }


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@pytest.mark.proof
@pytest.mark.parametrize("client", ["claude", "codex"])
@given(data=st.data())
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_value_in_any_place_stops_the_reading(
    client: str, data: st.DataObject, tmp_path: Path
) -> None:
    """Real lines, each with one value replaced by any other."""
    source: Source = ClaudeCodeSource() if client == "claude" else CodexSource()
    path = data.draw(st.sampled_from(sorted(p for p in EXPECTED if p.startswith(client))))
    changed = []
    for line in (CORPUS / path).read_text().splitlines()[:20]:
        value = json.loads(line)
        place = value
        while isinstance(place, dict) and place:
            key = data.draw(st.sampled_from(sorted(place)))
            if not isinstance(place[key], dict) or data.draw(st.booleans()):
                place[key] = data.draw(values)
                break
            place = place[key]
        changed.append(value)
    rows_of(source, written(tmp_path / "a.jsonl", *changed))


@BOTH
@given(content=st.binary(max_size=200))
@example(content=b'{"type":"user","message":{"content":"\\ud800"}}\n')
@example(content=b'{"type":"')
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_stop_the_reading(source: Source, content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(content)
    rows_of(source, file)
