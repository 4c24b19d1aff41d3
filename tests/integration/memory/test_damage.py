"""An index that is damaged, of another version or missing says so, and how to go on."""

from __future__ import annotations

import os
import random
from pathlib import Path

import duckdb
import pytest

from navi.memory.index_errors import IndexUnusable, NoIndex
from navi.memory.ingest import reading_process
from navi.memory.ingest.write import tantivy_writer
from navi.memory.ingest.write.session_cards import Card
from navi.memory.read.search import Search
from navi.memory.read.session_list import SessionFilters
from tests.integration.memory.deadly_source import DeadlyClaudeCode
from tests.memory_world import World
from tests.paths import ROOT
from tests.rights import rights_that_files_give


def test_without_an_index_the_next_command_is_named(bare_world: World) -> None:
    with pytest.raises(NoIndex) as refused:
        Search(bare_world.paths)
    assert refused.value.hint == "recall index"
    with pytest.raises(NoIndex):
        bare_world.sessions()


def test_an_index_of_another_version_is_refused_and_recreate_keeps_it(world: World) -> None:
    world.file().say("pear")
    world.index()
    with duckdb.connect(str(world.paths.database)) as connection:
        connection.execute("UPDATE schema_version SET version = 99")
    for attempt in (world.index, lambda: world.rows("SELECT 1")):
        with pytest.raises(IndexUnusable) as refused:
            attempt()
        assert "schema 99" in refused.value.message
        assert "--recreate" in refused.value.hint
    result = world.index(recreate=True)
    assert (result.indexed, result.warnings) == (1, [])
    assert len(world.find("pear")) == 1
    (kept,) = world.paths.database.parent.glob("recall.duckdb.2026-*.bak")
    with duckdb.connect(str(kept), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM messages").fetchone() == (1,)


def test_an_index_that_was_only_begun_is_made(bare_world: World) -> None:
    bare_world.file().say("pear")
    bare_world.paths.prepare()
    duckdb.connect(str(bare_world.paths.database)).close()
    with pytest.raises(NoIndex):
        bare_world.sessions()
    assert bare_world.index().indexed == 1
    assert len(bare_world.find("pear")) == 1


@pytest.mark.parametrize("what", ["garbage", "cut", "empty"])
def test_a_damaged_database_is_refused_and_recreate_repairs_it(world: World, what: str) -> None:
    world.file().say("pear " * 1000)
    world.index()
    path = world.paths.database
    data = path.read_bytes()
    damaged = {
        "garbage": random.Random(1).randbytes(len(data)),
        "cut": data[: len(data) // 3],
        "empty": b"not a database",
    }[what]
    path.write_bytes(damaged)
    with pytest.raises(IndexUnusable) as refused:
        world.index()
    assert "--recreate" in refused.value.hint
    # Searching needs only the full-text index.
    assert len(world.find("pear")) == 1
    assert world.index(recreate=True).indexed == 1
    assert len(world.find("pear")) == 1
    (kept,) = path.parent.glob("recall.duckdb.*.bak")
    assert kept.read_bytes() == damaged


def test_a_damaged_full_text_is_rebuilt_from_the_database(world: World) -> None:
    world.file().say("pear").run("ls plums")
    world.index()
    before = world.everything()
    (world.paths.texts / "meta.json").write_text("{")
    with pytest.raises(IndexUnusable) as refused:
        Search(world.paths)
    assert "recall index" in refused.value.hint
    assert world.index().indexed == 0
    assert world.everything() == before


def test_a_lost_full_text_is_rebuilt_from_the_database(world: World) -> None:
    import shutil

    world.file().say("pear")
    world.index()
    shutil.rmtree(world.paths.texts)
    world.index()
    assert len(world.find("pear")) == 1


def test_recreate_keeps_tags_and_sessions_without_file(world: World) -> None:
    from navi.memory import database, tags

    gone = world.file("gone").say("pear")
    world.file("here").say("plum")
    world.index()
    now = world.refresh().clock.now()
    for word in ("pear", "plum"):
        session = world.find(word)[0].session_id
        with database.writing(world.paths, now) as connection:
            tags.add(connection, session, [word], now)
    gone.path.unlink()
    world.index(recreate=True)
    archived = {tuple(each["tags"]): each["is_archived"] for each in world.sessions()}
    assert archived == {("pear",): True, ("plum",): False}
    assert (len(world.find("pear")), len(world.find("plum"))) == (1, 1)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE schema_version SET version = 99",
        "ALTER TABLE sessions DROP COLUMN title",
        "ALTER TABLE sessions DROP COLUMN message_count",
        "ALTER TABLE messages DROP COLUMN has_thinking",
        "ALTER TABLE usages DROP COLUMN cache_read_tokens",
        "ALTER TABLE sessions ALTER COLUMN file_size TYPE TEXT",
        "DROP TABLE facts",
    ],
)
def test_recreate_keeps_tags_and_sessions_of_an_index_with_other_columns(
    world: World, change: str
) -> None:
    from navi.memory import tags

    gone = world.file("gone").say("pear").run("ls plums")
    world.index()
    (session,) = world.sessions()
    now = world.refresh().clock.now()
    tags.change(world.paths, session["id"], ["keep"], now, is_added=True)
    gone.path.unlink()
    with duckdb.connect(str(world.paths.database)) as connection:
        connection.execute(change)
    assert world.index(recreate=True).warnings == []
    (kept,) = world.sessions()
    assert (kept["tags"], kept["title"], kept["is_archived"]) == (["keep"], "pear", True)
    assert (kept["message_count"], kept["tool_count"]) == (2, 1)
    assert (len(world.find("pear")), len(world.find("plums"))) == (1, 1)
    assert world.index().total == 0


def test_recreate_says_what_it_cannot_keep(world: World) -> None:
    gone = world.file("gone").say("pear")
    world.index()
    gone.path.unlink()
    with duckdb.connect(str(world.paths.database)) as connection:
        connection.execute("ALTER TABLE sessions ADD COLUMN mood TEXT")
        connection.execute("DROP TABLE tags")
    tags_lost, mood_lost = world.index(recreate=True).warnings
    assert "the old index's tags" in tags_lost
    assert "sessions.mood" in mood_lost
    assert ".bak" in mood_lost
    assert len(world.find("pear")) == 1


def test_an_unreadable_file_is_counted_and_the_rest_is_read(world: World) -> None:
    world.file("good").say("pear")
    closed = world.file("closed").say("plum")
    closed.path.chmod(0)
    with rights_that_files_give():
        result = world.index()
    assert (result.indexed, result.failed) == (1, 1)
    assert "permission denied" in result.warnings[0]


def test_a_file_that_fails_is_counted_and_tried_again(world: World, monkeypatch) -> None:
    world.file("good").say("pear")
    bad = world.file("bad").say("plum")
    source = type(world.sources["claude_code"])
    read = source.read

    def failing(self, file, mark=None):
        if file.path == str(bad.path):
            raise PermissionError(13, "Permission denied")
        return read(self, file, mark)

    with monkeypatch.context() as patched:
        patched.setattr(source, "read", failing)
        result = world.index()
        assert (result.indexed, result.failed, result.total) == (1, 1, 2)
        assert result.warnings == [f"{bad.path}: can't be read: permission denied"]
    assert world.index().indexed == 1
    assert len(world.find("plum")) == 1


def test_a_file_that_kills_its_reader_costs_no_other_file(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_process, "WORTH_A_PROCESS_BYTES", 0)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    world.sources = {"claude_code": DeadlyClaudeCode()}
    for name in ("a", "deadly", "z"):
        world.file(name).say(f"plum {name}")
    result = world.index(in_parallel=True)
    assert (result.indexed, result.failed) == (2, 1)
    assert [warning.partition(": ")[2] for warning in result.warnings] == [
        "can't be read: the process reading it died"
    ]
    assert world.texts("plum") == ["plum a", "plum z"]


def test_a_200_mb_file_is_read_with_bounded_memory(world: World) -> None:
    small = world.file("small").say("pear")
    big = world.file("big")
    big.say("the beginning")
    before = big.path.read_bytes()
    big.line("user", [{"type": "tool_result", "tool_use_id": "t", "content": "word " * 200_000}])
    result_line = big.path.read_bytes()[len(before) :]
    with big.path.open("ab") as file:
        for number in range(1, 201):
            file.write(result_line)
            file.write(
                before.replace(b"big-0", b"later-%d" % number).replace(b"the", b"%d" % number)
            )
    assert big.path.stat().st_size > 200_000_000
    os.utime(small.path, (1, 1))
    result = world.index(in_parallel=True)
    assert (result.indexed, result.failed, result.messages) == (2, 0, 202)
    assert len(world.find("pear")) == 1
    assert world.index().indexed == 0


def test_an_older_versions_full_text_is_refused_and_rebuilt_by_the_next_run(
    world: World,
) -> None:
    import tantivy

    world.file().say("pear")
    world.index()
    tantivy_writer.remove(world.paths.texts)
    world.paths.texts.mkdir()
    older = tantivy.SchemaBuilder()
    older.add_text_field("text")
    tantivy.Index(older.build(), str(world.paths.texts))
    with duckdb.connect(str(world.paths.database)) as connection:
        connection.execute("UPDATE facts SET value = '3 content' WHERE name = 'texts'")
    for attempt in (world.sessions, lambda: world.find("pear")):
        with pytest.raises(IndexUnusable) as refused:
            attempt()
        assert "recall index" in refused.value.hint
    world.index()
    assert len(world.find("pear")) == len(world.sessions()) == 1


def test_files_that_a_killed_commit_left_behind_do_not_stop_the_next_one(tmp_path: Path) -> None:
    card = Card("00000000000000aa", "claude_code", "s1", "/p", None, 1, True, [], b"{}")
    other = card._replace(session_id="00000000000000bb")
    with tantivy_writer.TextWriter(tmp_path) as writer:
        writer.add_card(card)
        writer.add_card(other)
        writer.commit()
    committed = (tmp_path / "meta.json").read_bytes()
    for _ in range(3):
        with tantivy_writer.TextWriter(tmp_path) as writer:
            writer.add_card(card)
            writer.commit()
        # As if killed just before it listed its files there.
        (tmp_path / "meta.json").write_bytes(committed)


def test_a_lost_copy_of_the_tags_is_rebuilt_by_the_next_run(world: World) -> None:
    from navi.memory import tags

    world.file().say("pear")
    world.index()
    (session,) = world.sessions()
    now = world.refresh().clock.now()
    tags.change(world.paths, session["id"], ["keep", "fruit"], now, is_added=True)
    assert world.sessions()[0]["tags"] == ["fruit", "keep"]
    world.paths.tags.unlink()  # as if killed before it was written
    world.index()
    assert world.sessions(SessionFilters(tag="keep"))[0]["tags"] == ["fruit", "keep"]
    tags.change(world.paths, session["id"], ["keep", "fruit"], now, is_added=False)
    assert world.sessions()[0]["tags"] == []
    assert world.sessions(SessionFilters(tag="keep")) == []
