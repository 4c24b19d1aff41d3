"""Reading a growing file from marks gives the same rows as reading it whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from navi.memory.model import SessionFile
from navi.vendors import growing_file
from navi.vendors.claude_code.history import ClaudeCodeSource
from navi.vendors.codex.history import CodexSource
from navi.vendors.source import Chunk, Rewritten, Source
from tests.paths import CORPUS
from tests.unit.vendors.rows import EXPECTED, Rows, rows_of, written

SOURCES: dict[str, Source] = {"claude": ClaudeCodeSource(), "codex": CodexSource()}


def source_of(path: str) -> Source:
    return SOURCES[path.split("/")[0]]


def grown(source: Source, path: Path, content: bytes, cuts: list[int]) -> Rows:
    """The rows of a file read each time it reached one of these lengths."""
    rows, mark = Rows(), None
    for cut in [*sorted(cuts), len(content)]:
        path.write_bytes(content[:cut])
        try:
            rows.read(source, path, mark)
        except Rewritten:
            rows = rows_of(source, path)
        mark = rows.mark
    return rows


def line_ends(content: bytes) -> list[int]:
    return [at + 1 for at, byte in enumerate(content) if byte == ord("\n")]


@pytest.mark.parametrize("path", sorted(EXPECTED))
def test_a_file_read_after_each_of_its_lines_gives_what_it_gives_at_once(
    path: str, tmp_path: Path
) -> None:
    source, content = source_of(path), (CORPUS / path).read_bytes()
    # Same name, same kind of folder: both may describe the session.
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    whole = rows_of(source, file)
    ends = line_ends(content)
    assert grown(source, file, content, ends) == whole
    for end in ends:
        assert grown(source, file, content, [end]) == whole


MIXED: dict[str, list[str]] = {
    client: sorted(path for path in EXPECTED if path.startswith(client))
    for client in ("claude", "codex")
}


@pytest.mark.parametrize("client", ["claude", "codex"])
@given(data=st.data())
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_file_cut_anywhere_gives_what_it_gives_at_once(
    client: str, data: st.DataObject, tmp_path: Path
) -> None:
    """Lines of several versions in one file, some broken, read each time it grew."""
    paths = data.draw(st.lists(st.sampled_from(MIXED[client]), min_size=1, max_size=3))
    pieces = [(CORPUS / path).read_bytes() for path in paths]
    pieces.append(data.draw(st.sampled_from([b"", b'{"type":"us', b"\xff\xfe\n", b"\n\n[]\n"])))
    content = b"".join(data.draw(st.permutations(pieces)))
    cuts = data.draw(st.lists(st.integers(0, len(content)), max_size=6))
    source, file = SOURCES[client], tmp_path / "sessions" / "rollout-x.jsonl"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    assert grown(source, file, content, cuts) == rows_of(source, file)


@pytest.mark.parametrize("path", sorted(EXPECTED))
def test_reading_on_where_nothing_was_added_gives_no_rows(path: str) -> None:
    source = source_of(path)
    first = rows_of(source, CORPUS / path)
    reading = source.read(SessionFile(str(CORPUS / path), 0, 0), first.mark)
    assert list(reading) == []
    assert reading.session == first.session
    assert reading.mark == first.mark


def test_how_much_is_read_at_once_makes_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    path = max(EXPECTED, key=lambda path: (CORPUS / path).stat().st_size)
    whole = rows_of(source_of(path), CORPUS / path)
    monkeypatch.setattr(growing_file, "BLOCK_BYTES", 100)
    monkeypatch.setattr(growing_file, "CHUNK_BYTES", 1000)
    assert rows_of(source_of(path), CORPUS / path) == whole


def prompt(text: str) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": text}}


def test_only_the_added_rows_come_out(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", prompt("one"), prompt("two"))
    mark = rows_of(ClaudeCodeSource(), file).mark
    with file.open("a") as end:
        end.write(json.dumps(prompt("three")) + "\n")
    [chunk] = ClaudeCodeSource().read(SessionFile(str(file), 0, 0), mark)
    assert [(message.idx, message.content) for message in chunk.messages] == [(2, "three")]


LAST_LINES = [
    "claude/2.1.325-tui",
    "codex/0.166.0-tui",
    "codex/0.20.0",
]


@pytest.mark.parametrize("version", LAST_LINES)
def test_a_real_file_cut_at_every_byte_of_its_last_lines_grows_to_what_it_is(
    version: str, tmp_path: Path
) -> None:
    """At each of these bytes it has every complete line, with or without its newline."""
    paths = [path for path in EXPECTED if path.startswith(f"{version}/")]
    path = min(paths, key=lambda each: (CORPUS / each).stat().st_size or 10**9)
    source, lines_in = source_of(path), (CORPUS / path).read_bytes().splitlines(keepends=True)
    # Long lines are shortened: what counts is where they are cut.
    lines_in = [line for line in lines_in if len(line) < 1_500]
    content = b"".join(lines_in)
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    whole = rows_of(source, file)
    ends = set(line_ends(content)) | {0}
    for cut in range(len(content) - sum(map(len, lines_in[-2:])), len(content) + 1):
        file.write_bytes(content[:cut])
        half = rows_of(source, file)
        assert half.session.is_cut_off == (cut not in ends and cut + 1 not in ends)
        assert half.session.bad_lines == 0
        file.write_bytes(content)
        assert half.read(source, file, half.mark) == whole
        assert not half.session.is_cut_off


@pytest.mark.parametrize("source", SOURCES.values(), ids=list(SOURCES))
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_a_last_line_without_a_newline_is_read_and_not_read_again(
    source: Source, end: bytes, tmp_path: Path
) -> None:
    message = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "two"}],
    }
    last = prompt("two") if source is SOURCES["claude"] else message
    file = tmp_path / "a.jsonl"
    file.write_bytes(json.dumps(last).encode())
    first = rows_of(source, file)
    assert first.words("user") == ["two"]
    with file.open("ab") as more:
        more.write(end)
    assert list(source.read(SessionFile(str(file), 0, 0), first.mark)) == [Chunk()] * bool(end)
    assert rows_of(source, file, first.mark).session == first.session


@pytest.mark.parametrize("more", [b" ", b'{"type":"user"}\n', b"\r "])
def test_a_last_line_that_goes_on_after_its_end_means_reading_again(
    more: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(json.dumps(prompt("one")).encode())
    mark = rows_of(ClaudeCodeSource(), file).mark
    with file.open("ab") as end:
        end.write(more)
    with pytest.raises(Rewritten):
        rows_of(ClaudeCodeSource(), file, mark)


def test_half_a_line_waits_for_its_other_half(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", prompt("one"))
    line = json.dumps(prompt("two")).encode()
    with file.open("ab") as end:
        end.write(line[:20])
    first = rows_of(ClaudeCodeSource(), file)
    assert first.words("user") == ["one"]
    assert (first.session.bad_lines, first.session.is_cut_off) == (0, True)
    with file.open("ab") as end:
        end.write(line[20:] + b"\n")
    assert rows_of(ClaudeCodeSource(), file, first.mark).by_idx[1].content == "two"


def lengthened(content: bytes) -> bytes:
    return content + json.dumps(prompt("more")).encode() + b"\n"


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(lambda old: old[:-1], id="shorter"),
        pytest.param(lambda old: b"", id="empty"),
        pytest.param(lambda old: lengthened(old.replace(b"first", b"other")), id="another head"),
        pytest.param(lambda old: lengthened(old.replace(b"last", b"best")), id="another end"),
        pytest.param(lambda old: lengthened(old[1:]), id="moved"),
    ],
)
def test_a_rewritten_file_is_noticed(changed: Any, tmp_path: Path) -> None:
    content = [prompt("first"), *(prompt(f"number {n}") for n in range(100)), prompt("last")]
    file = written(tmp_path / "a.jsonl", *content)
    mark = rows_of(ClaudeCodeSource(), file).mark
    file.write_bytes(changed(file.read_bytes()))
    with pytest.raises(Rewritten):
        ClaudeCodeSource().read(SessionFile(str(file), 0, 0), mark)


@pytest.mark.parametrize("mark", [b"", b"{}", b"\xff", b'{"version":0}'])
def test_a_mark_that_says_nothing_means_reading_again(mark: bytes, tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", prompt("one"))
    with pytest.raises(Rewritten):
        ClaudeCodeSource().read(SessionFile(str(file), 0, 0), mark)


def test_a_mark_of_another_way_of_reading_means_reading_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path / "a.jsonl", prompt("one"))
    mark = rows_of(ClaudeCodeSource(), file).mark
    monkeypatch.setattr(growing_file.LineParser, "version", growing_file.LineParser.version + 1)
    with pytest.raises(Rewritten):
        ClaudeCodeSource().read(SessionFile(str(file), 0, 0), mark)
