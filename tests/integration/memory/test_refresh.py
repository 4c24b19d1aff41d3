"""The index follows the files: new lines are added once, and ids never change."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path

import pytest

from navi.memory import database
from navi.memory.ingest import file_reader
from navi.memory.record_ids import call_id, message_id
from navi.vendors import growing_file
from navi.vendors.claude_code.history import ClaudeCodeLineParser
from tests.memory_world import FixedClock, World, touch
from tests.rights import rights_that_files_give


def test_an_empty_home_gives_an_empty_index(bare_world: World) -> None:
    result = bare_world.index()
    assert (result.indexed, result.failed, result.total) == (0, 0, 0)
    assert bare_world.find("anything") == []
    assert bare_world.sessions() == []


def test_what_was_said_thought_and_run_is_found(bare_world: World) -> None:
    bare_world.file().say("Why is the pancake flat?").think("Perhaps the yeast").run(
        "grep -r batter ."
    )
    result = bare_world.index()
    assert (result.indexed, result.messages, result.tool_calls) == (1, 3, 1)
    assert [hit.kind for hit in bare_world.find("pancake")] == ["content"]
    assert [hit.kind for hit in bare_world.find("yeast")] == ["thinking"]
    (bash,) = bare_world.find("batter")
    assert (bash.kind, bash.tool_name) == ("bash", "Bash")
    (session,) = bare_world.sessions()
    (message, thought, ran) = bare_world.transcript(session["id"]).messages
    assert (message["role"], message["content"]) == ("user", "Why is the pancake flat?")
    assert (thought["has_thinking"], thought["thinking"]) == (True, "Perhaps the yeast")
    assert [call["id"] for call in ran["tool_calls"]] == [bash.tool_call_id]
    assert ran["id"] == bash.message_id
    assert ran["tool_calls"][0]["bash_base"] == "grep"


def test_a_second_run_indexes_nothing(world: World) -> None:
    world.file("one").say("pear")
    world.file("two").say("plum")
    assert world.index().indexed == 2
    again = world.index()
    assert (again.indexed, again.skipped, again.total) == (0, 2, 2)


def test_touching_one_file_indexes_that_one(world: World) -> None:
    world.file("one").say("pear")
    touched = world.file("two").say("plum")
    world.index()
    before = world.everything()
    touch(touched.path)
    assert (world.index().indexed, world.index().indexed) == (1, 0)
    after = world.everything()
    assert after["messages"] == before["messages"]
    assert after["texts"] == before["texts"]
    assert len(after["cards"]) == len(before["cards"]) == 2


def test_a_second_run_opens_no_transcript(world: World, monkeypatch) -> None:
    world.file("one").say("pear")
    world.index()
    monkeypatch.delattr("builtins.open")
    monkeypatch.delattr(type(world.sources["claude_code"]), "read")
    assert world.index().skipped == 1


def test_an_appended_file_keeps_its_ids_and_is_in_search_once(world: World) -> None:
    file = world.file().say("the first pear").say("an answer", "assistant")
    world.index()
    before = world.everything()
    file.say("the second pear").run("ls pears")
    result = world.index()
    assert result.messages == 2
    after = world.everything()
    assert set(before["messages"]) < set(after["messages"])
    assert set(before["texts"]) < set(after["texts"])
    assert world.texts("pear") == ["the first pear", "the second pear"]
    assert world.sessions()[0]["message_count"] == 4
    assert_like_new(world)


def test_an_answer_that_goes_on_after_it_was_indexed_stays_one_message(world: World) -> None:
    file = world.file().say("question")
    file.say("half an answer", "assistant", id="msg_same")
    world.index()
    file.say("the other half", "assistant", id="msg_same")
    file.line(
        "assistant",
        [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "make cake"}}],
        id="msg_same",
    )
    world.index()
    assert [hit.idx for hit in world.find("half")] == [1]
    assert [hit.idx for hit in world.find("cake")] == [1]
    assert world.sessions()[0]["message_count"] == 2
    assert_like_new(world)


def test_a_message_that_goes_on_in_the_next_stretch_is_counted_once(
    world: World, monkeypatch
) -> None:
    monkeypatch.setattr(growing_file, "BLOCK_BYTES", 100)
    monkeypatch.setattr(growing_file, "CHUNK_BYTES", 1)
    monkeypatch.setattr(file_reader, "CHUNKS_PER_PART", 1)
    file = world.file().say("question")
    for part in range(5):
        file.say(f"part {part} of the answer", "assistant", id="msg_same")
    assert world.index().messages == 2
    assert world.rows("SELECT count(*) FROM messages") == [(2,)]


def test_a_session_that_codex_puts_away_and_takes_back_stays_the_same(world: World) -> None:
    codex = world.home / ".codex"
    name = "rollout-2026-03-01T12-00-00-01a1e0ae-8ec6-7621-a39a-f47a43681d80.jsonl"
    place, archive = codex / "sessions" / "2026" / "03" / "01" / name, codex / "archived_sessions"
    message = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "pear"}],
    }
    line = {"timestamp": "2026-03-01T12:00:00Z", "type": "response_item", "payload": message}
    place.parent.mkdir(parents=True)
    archive.mkdir()
    place.write_text(json.dumps(line) + "\n")
    world.index()
    before = world.everything()
    place.rename(archive / name)
    result = world.index()
    assert (result.indexed, result.skipped) == (0, 1)
    assert world.everything() == before
    world.index(full=True)
    assert (len(world.find("pear")), len(world.sessions())) == (1, 1)
    (archive / name).rename(place)
    world.index()
    assert world.everything() == before


def test_a_rewritten_file_is_read_again(world: World) -> None:
    file = world.file().say("old pear").say("old plum")
    world.index()
    file.path.write_bytes(b"")
    file.count = 0
    file.say("new apple, longer than what stood here before, so that it is not shorter" * 20)
    world.index()
    assert world.find("pear") == []
    assert len(world.find("apple")) == 1
    assert_like_new(world)


def test_a_truncated_file_is_read_again(world: World) -> None:
    file = world.file().say("pear").say("plum")
    world.index()
    data = file.path.read_bytes()
    file.path.write_bytes(data[: data.index(b"\n") + 1])
    world.index()
    assert (len(world.find("pear")), len(world.find("plum"))) == (1, 0)
    assert_like_new(world)


def test_ids_are_the_same_after_full_and_after_recreate(world: World) -> None:
    world.file("one").say("pear").run("ls")
    world.file("two", "garden").say("plum").think("hm")
    world.index()
    before = world.everything()
    assert world.index(full=True).indexed == 2
    assert world.everything() == before
    assert world.index(recreate=True).indexed == 2
    assert world.everything() == before


def test_a_bad_line_is_skipped_and_counted(world: World) -> None:
    file = world.file().say("pear").raw(b'{"type": "user", broken\n').say("plum")
    result = world.index()
    assert (result.indexed, result.failed, len(result.warnings)) == (1, 0, 1)
    (session,) = world.sessions()
    assert (session["is_complete"], session["bad_lines"]) == (False, 1)
    assert (len(world.find("pear")), len(world.find("plum"))) == (1, 1)
    assert str(file.path) in result.warnings[0]


def test_half_a_last_line_waits_for_its_end(world: World) -> None:
    file = world.file().say("pear")
    size = file.path.stat().st_size
    file.say("plum")
    whole = file.path.read_bytes()
    file.path.write_bytes(whole[: size + 40])
    world.index()
    (session,) = world.sessions()
    assert (session["is_complete"], session["bad_lines"]) == (False, 0)
    assert (len(world.find("pear")), len(world.find("plum"))) == (1, 0)
    file.path.write_bytes(whole)
    world.index()
    assert world.sessions()[0]["is_complete"]
    assert len(world.find("plum")) == 1
    assert_like_new(world)


def test_a_last_line_without_a_newline_is_indexed(world: World) -> None:
    file = world.file().say("pear").say("lonely albatross")
    file.path.write_bytes(file.path.read_bytes().rstrip(b"\n"))
    world.index()
    assert world.texts("albatross") == ["lonely albatross"]
    assert world.sessions()[0]["is_complete"]
    file.raw(b"\n").say("plum")
    assert world.index().messages == 1
    assert world.texts("albatross") == ["lonely albatross"]
    assert_like_new(world)


def test_half_a_line_that_was_left_is_warned_about_and_a_fresh_one_is_not(world: World) -> None:
    world.file("left").say("pear").raw(b'{"type":"user","mess')
    fresh = world.file("fresh").say("plum").raw(b'{"type":"user","mess')
    now = FixedClock().now().timestamp()
    os.utime(fresh.path, (now - 1, now - 1))
    os.utime(world.file("left").path, (now - 900, now - 900))
    result = world.index()
    assert result.warnings == [f"{world.file('left').path}: its last line is cut off"]
    assert [session["is_complete"] for session in world.sessions()] == [False, False]


def test_a_damaged_file_warns_once_about_each_damaged_line(world: World) -> None:
    file = world.file().say("pear").raw(b"{broken\n")
    assert world.index().warnings == [f"{file.path}: skipped 1 line (2) that can't be read"]
    file.say("plum")
    assert world.index().warnings == []
    file.raw(b"{broken\n{again\n").say("quince")
    assert world.index().warnings == [f"{file.path}: skipped 2 lines (4, 5) that can't be read"]


def test_a_file_that_is_not_a_transcript_fails_and_is_not_a_session(world: World) -> None:
    world.file("good").say("pear")
    binary = world.file("binary").raw(random.Random(1).randbytes(5000) + b"\n")
    result = world.index()
    assert (result.indexed, result.failed, result.total) == (1, 1, 2)
    (warning,) = result.warnings
    assert warning.startswith(f"{binary.path}: not a transcript")
    assert [each["source_session_id"] for each in world.sessions()] == ["good"]
    again = world.index()
    assert (again.failed, again.skipped, again.warnings) == (0, 2, [])
    binary.path.write_bytes(b"")
    binary.say("plum")
    assert (world.index().indexed, len(world.sessions())) == (1, 2)


def test_a_closed_folder_is_warned_about_and_its_sessions_have_not_vanished(world: World) -> None:
    world.file("open", "shop").say("pear")
    folder = world.file("closed", "garden").say("plum").path.parent
    world.index()
    folder.chmod(0)
    try:
        with rights_that_files_give():
            result = world.index()
    finally:
        folder.chmod(0o700)
    assert len(result.warnings) == 1
    assert str(folder) in result.warnings[0]
    assert [each["is_archived"] for each in world.sessions()] == [False, False]


def test_a_file_that_fails_half_way_is_read_on_and_nothing_doubles(
    world: World, monkeypatch
) -> None:
    monkeypatch.setattr(growing_file, "BLOCK_BYTES", 100)
    monkeypatch.setattr(growing_file, "CHUNK_BYTES", 1)
    monkeypatch.setattr(file_reader, "CHUNKS_PER_PART", 1)
    file = world.file()
    for number in range(8):
        file.say(f"pear {number}")
    read_lines = ClaudeCodeLineParser.read_lines
    with monkeypatch.context() as patched:

        def failing(self, some, offset, number, chunk):
            if number == 6:
                raise OSError("the disk is gone")
            read_lines(self, some, offset, number, chunk)

        patched.setattr(ClaudeCodeLineParser, "read_lines", failing)
        assert world.index().failed == 1
    world.index()
    assert len(world.find("pear")) == 8
    assert world.sessions()[0]["message_count"] == 8


def test_what_an_earlier_version_read_is_read_again_once(world: World, monkeypatch) -> None:
    gone = world.file("gone").say("the first pear\nmore").say("an answer", "assistant")
    here = world.file("here").say("a plum")
    with monkeypatch.context() as patched:
        patched.setattr(type(world.sources["claude_code"]), "version", 1)
        world.index()
        gone.path.unlink()
        world.index()
    with database.writing(world.paths, FixedClock().now()) as connection:
        # As the previous version left it.
        connection.execute("UPDATE sessions SET title = NULL")
        connection.execute("DELETE FROM facts WHERE name = 'readers'")
    result = world.index()
    assert (result.indexed, result.total) == (1, 1)
    titles = {each["source_session_id"]: each["title"] for each in world.sessions()}
    assert titles == {"gone": "the first pear", "here": "a plum"}
    assert world.index().indexed == 0
    here.say("more")
    assert world.index().indexed == 1


def test_an_index_of_this_version_is_not_read_anew(world: World) -> None:
    world.file().say("pear")
    world.index()
    world.paths.file_list.unlink()
    assert world.index().skipped == 1


def test_files_that_nobody_can_read_do_not_stop_the_rest(world: World) -> None:
    world.file("good").say("pear")
    folder = world.file("empty").path.parent
    (folder / "binary.jsonl").write_bytes(os.urandom(5000) + b"\n")
    (folder / "deep.jsonl").write_bytes(b'{"a":' * 20_000 + b"1" + b"}" * 20_000 + b"\n")
    (folder / "broken.jsonl").write_bytes(
        b'{"type":"user","sessionId":"x","message":{"role":"user","content":"lone \\ud800 pear"}}\n'
    )
    (folder / "dangling.jsonl").symlink_to(folder / "nowhere")
    (folder / "folder.jsonl").mkdir()
    result = world.index()
    assert any(hit.snippet.text == "pear" for hit in world.find("pear"))
    assert result.indexed >= 1
    assert world.index().indexed == 0


def test_a_vanished_file_stays_findable_and_says_so(world: World) -> None:
    file = world.file().say("pear")
    world.index()
    data = file.path.read_bytes()
    stat = file.path.stat()
    file.path.unlink()
    result = world.index()
    assert (result.indexed, result.total) == (0, 0)
    assert len(world.find("pear")) == 1
    assert world.sessions()[0]["is_archived"]
    world.index(full=True)
    assert len(world.find("pear")) == 1
    file.path.write_bytes(data)
    os.utime(file.path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert world.index().indexed == 0
    assert not world.sessions()[0]["is_archived"]


def test_only_the_named_source_is_read(world: World) -> None:
    world.file().say("pear")
    world.index()
    world.sources = {"codex": world.sources["codex"]}
    assert world.index().total == 0
    assert not world.sessions()[0]["is_archived"]


def test_a_project_is_the_root_of_its_repository(world: World) -> None:
    repository = world.home / "shop"
    file = world.file()
    file.cwd = str(repository / "src" / "deep")
    Path(file.cwd).mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", repository], check=True)
    # Codex's sandbox leaves empty folders of this name behind.
    (repository / "src" / ".git").mkdir()
    file.say("pear")
    world.index()
    (session,) = world.sessions()
    assert (session["git_repo"], session["cwd"]) == (str(repository), file.cwd)
    assert world.find("pear")[0].project == str(repository)


def assert_like_new(world: World) -> None:
    """An index that grew equals one made from the files as they are now."""
    grown = world.everything()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECALL_DB_PATH", str(world.home / "new" / "recall.duckdb"))
        world.index()
        assert world.everything() == grown


def test_the_ids_in_the_tables_are_those_that_searches_name(world: World) -> None:
    codex = world.home / ".codex" / "sessions" / "2026" / "01" / "01" / "rollout-x.jsonl"
    codex.parent.mkdir(parents=True)
    call = '{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}'
    codex.write_text(f'{{"type":"response_item","payload":{call}}}\n')
    world.file().say("pear").run("ls plum", text="quince")
    world.index()
    messages = world.rows("SELECT id, session_id, idx FROM messages")
    assert [row[0] for row in messages] == [message_id(*row[1:]) for row in messages]
    calls = world.rows("SELECT id, message_id, session_id, message_idx, idx FROM tool_calls")
    assert len(calls) == 2
    for id, message, session, message_idx, idx in calls:
        assert id == call_id(session, message_idx, idx)
        assert message == (None if message_idx is None else message_id(session, message_idx))
