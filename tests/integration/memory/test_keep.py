"""Kept session files: copied, followed, restored, and what survives a kill."""

from __future__ import annotations

import gzip
import os
import stat
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from navi.memory.ingest import index_lock
from navi.memory.keep import file_copy, keeping, kept_files, restoring
from navi.memory.keep.kept_files import KeptFile
from tests.memory_world import START, File, World, touch

NOW = START + timedelta(days=40)


def keep(world: World, *files: File) -> None:
    names = {str(file.path) for file in files}
    rows = world.rows("SELECT id, source, source_path FROM sessions")
    with index_lock.exclusive(world.paths.lock, "test", NOW):
        result = keeping.keep(world.paths, world.sources, [row for row in rows if row[2] in names])
    assert result.warnings == []


def kept(world: World, file: File) -> KeptFile:
    files = kept_files.load(world.paths).files.values()
    return next(each for each in files if each.path == str(file.path))


def copy_of(world: World, file: File) -> bytes:
    each = kept(world, file)
    return gzip.decompress((world.paths.kept / each.copy).read_bytes())


def restore(world: World, file: File, *, may_replace: bool = False) -> restoring.Restored:
    kept_now = kept_files.load(world.paths)
    session_id = restoring.find(kept_now, file.session)
    assert session_id is not None
    first, *_ = restoring.restore(
        world.paths, kept_now, world.sources, session_id, NOW, lambda _: may_replace
    )
    return first


@pytest.fixture
def file(world: World) -> File:
    """An indexed session that is kept."""
    file = world.file("session-one").say("plant a pear tree")
    world.index()
    keep(world, file)
    return file


def test_a_copy_is_the_same_byte_for_byte_and_only_its_owner_can_read_it(
    world: World, file: File
) -> None:
    assert copy_of(world, file) == file.path.read_bytes()
    for path in (world.paths.kept, *world.paths.kept.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_each_pass_appends_what_the_file_has_more(world: World, file: File) -> None:
    before = kept(world, file)
    file.say("and water it")
    world.index()
    after = kept(world, file)
    assert copy_of(world, file) == file.path.read_bytes()
    assert (after.copy, after.parts) == (before.copy, 2)


def test_a_file_that_was_rewritten_is_copied_again(world: World, file: File) -> None:
    text = file.path.read_bytes().replace(b"pear", b"plum")
    file.path.write_bytes(text + text)
    touch(file.path)
    world.index()
    assert copy_of(world, file) == text + text
    assert len(list(world.paths.kept.iterdir())) == 2


def test_a_copy_of_many_parts_is_written_anew(
    world: World, file: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_copy, "MOST_PARTS", 2)
    file.say("day 2")
    world.index()
    assert kept(world, file).parts == 2
    file.say("day 3")
    world.index()
    assert kept(world, file).parts == 1
    assert copy_of(world, file) == file.path.read_bytes()


def test_nothing_is_written_while_nothing_changes(world: World, file: File) -> None:
    def state() -> list[tuple[str, int, int]]:
        entries = sorted(os.scandir(world.paths.kept), key=lambda entry: entry.name)
        return [(each.name, each.inode(), each.stat().st_mtime_ns) for each in entries]

    before = state()
    world.file("another").say("a session that nobody keeps")
    world.index()
    assert state() == before


def test_what_a_killed_process_appended_is_cut_off(world: World, file: File) -> None:
    path = world.paths.kept / kept(world, file).copy
    with path.open("ab") as copy:
        copy.write(b"half of a part")
    (world.paths.kept / "abandoned.jsonl.gz").write_bytes(b"half a copy")
    file.say("and water it")
    world.index()
    assert copy_of(world, file) == file.path.read_bytes()
    assert not (world.paths.kept / "abandoned.jsonl.gz").exists()


@pytest.mark.parametrize("size", [0, 20])
def test_nothing_is_appended_to_a_copy_that_was_cut_off(
    world: World, file: File, size: int
) -> None:
    os.truncate(world.paths.kept / kept(world, file).copy, size)
    file.say("and water it")
    world.index()
    assert copy_of(world, file) == file.path.read_bytes()


def test_a_copy_that_a_killed_process_appended_to_can_be_restored(world: World, file: File) -> None:
    text = file.path.read_bytes()
    with (world.paths.kept / kept(world, file).copy).open("ab") as copy:
        copy.write(b"half of a part")
    file.path.unlink()
    restore(world, file)
    assert file.path.read_bytes() == text


def test_a_deleted_session_stays_and_is_restored_for_another_month(
    world: World, file: File
) -> None:
    text = file.path.read_bytes()
    file.path.unlink()
    world.index()
    assert [each["is_archived"] for each in world.sessions()] == [True]
    assert len(world.find("pear")) == 1

    restored = restore(world, file)

    assert (restored.path, restored.is_written) == (str(file.path), True)
    assert file.path.read_bytes() == text
    assert file.path.stat().st_mtime == NOW.timestamp()
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    world.index()
    assert [each["is_archived"] for each in world.sessions()] == [False]
    assert len(world.find("pear")) == 1
    assert copy_of(world, file) == text


def test_a_whole_project_folder_that_is_gone_is_made_again(world: World, file: File) -> None:
    file.path.unlink()
    file.path.parent.rmdir()
    restore(world, file)
    assert file.path.exists()


def test_a_different_file_is_replaced_only_on_request_and_stays_beside_it(
    world: World, file: File
) -> None:
    text = file.path.read_bytes()
    file.path.write_text("newer\n")
    with pytest.raises(restoring.OtherFile):
        restore(world, file)
    assert file.path.read_text() == "newer\n"

    restored = restore(world, file, may_replace=True)

    assert file.path.read_bytes() == text
    assert restored.backup is not None
    assert Path(restored.backup).read_text() == "newer\n"


def test_the_same_file_is_left_alone(world: World, file: File) -> None:
    before = file.path.stat()
    assert not restore(world, file).is_written
    assert file.path.stat() == before


def test_a_damaged_copy_is_never_written_back(world: World, file: File) -> None:
    path = world.paths.kept / kept(world, file).copy
    path.write_bytes(gzip.compress(b"something else" * 100))
    file.path.unlink()
    with pytest.raises(Exception, match="is damaged"):
        restore(world, file)
    assert list(file.path.parent.iterdir()) == []


def test_a_new_index_keeps_what_was_kept(world: World, file: File) -> None:
    file.path.unlink()
    world.index()
    world.index(recreate=True)
    assert len(world.find("pear")) == 1
    restore(world, file)
    assert file.path.exists()


def test_a_session_is_restored_even_if_its_index_is_lost(world: World, file: File) -> None:
    file.path.unlink()
    world.paths.database.write_bytes(b"not a database")
    world.index(recreate=True)
    assert world.find("pear") == []
    restore(world, file)
    world.index()
    assert len(world.find("pear")) == 1


def test_sub_agents_are_kept_and_restored_with_their_session(world: World, file: File) -> None:
    folder = file.path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    agent = File(folder / "agent-a1.jsonl", "agent-a1", file.cwd)
    agent.say("look for aphids", isSidechain=True)
    world.index()
    assert copy_of(world, agent) == agent.path.read_bytes()
    file.path.unlink()
    agent.path.unlink()
    restore(world, file)
    assert agent.path.exists()


def test_sub_agents_are_no_longer_kept_than_their_session(world: World, file: File) -> None:
    folder = file.path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    agents = [
        File(folder / f"agent-a{number}.jsonl", f"agent-a{number}", "/x") for number in (1, 2)
    ]
    for agent in agents:
        agent.say("look for aphids", isSidechain=True)
    world.index()
    ids = {each.path: id for id, each in kept_files.load(world.paths).files.items()}
    keeping.stop(world.paths, world.sources, [ids[str(agents[0].path)]])
    agents[0].say("and for snails", isSidechain=True)
    world.index()
    assert len(kept_files.load(world.paths).files) == 2
    keeping.stop(world.paths, world.sources, [ids[str(file.path)]])
    world.index()
    assert kept_files.load(world.paths).files == {}


def test_all_sessions_are_kept_if_the_settings_say_so(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = world.file("session-one").say("pear")
    world.index()
    assert not world.paths.kept.exists()
    monkeypatch.setenv("RECALL_KEEP", "all")
    second = world.file("session-two").say("plum")
    world.index()
    for file in (first, second):
        assert copy_of(world, file) == file.path.read_bytes()


def test_a_session_that_a_person_refused_is_not_kept_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECALL_KEEP", "all")
    file = world.file("session-one").say("pear")
    world.index()
    [session_id] = kept_files.load(world.paths).files
    keeping.stop(world.paths, world.sources, [session_id])
    file.say("plum")
    world.index()
    assert kept_files.load(world.paths).files == {}
    assert [each.name for each in world.paths.kept.iterdir()] == ["kept.json"]


def test_a_file_that_cannot_be_copied_is_named_and_does_not_stop_the_pass(
    world: World, file: File
) -> None:
    file.say("plum")
    copy = world.paths.kept / kept(world, file).copy
    copy.unlink()
    copy.mkdir()
    result = world.index()
    assert [warning for warning in result.warnings if "can't be kept" in warning] != []
    assert len(world.find("plum")) == 1


def test_a_rollout_that_codex_archived_is_kept_and_returns_to_its_place(world: World) -> None:
    thread = "01a1e0ae-8ec6-7621-a39a-f47a43681d80"
    name = f"rollout-2026-03-01T12-00-00-{thread}.jsonl"
    path = world.home / ".codex" / "sessions" / "2026" / "03" / "01" / name
    archived = world.home / ".codex" / "archived_sessions" / name
    lines: list[Any] = [
        f'{{"timestamp":"{START.isoformat()}","type":"session_meta","payload":{{"id":"{thread}","cwd":"/x"}}}}',
        f'{{"timestamp":"{START.isoformat()}","type":"response_item","payload":{{"type":"message",'
        '"role":"user","content":[{"type":"input_text","text":"pear"}]}}',
    ]
    archived.parent.mkdir(parents=True)
    archived.write_text("".join(f"{line}\n" for line in lines))
    file = File(path, thread, "/x")
    world.index()
    keep(world, file)
    text = archived.read_bytes()
    archived.unlink()
    restore(world, file)
    assert path.read_bytes() == text
