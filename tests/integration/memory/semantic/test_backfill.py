"""Vectors follow the index: whatever happens, each passage has one vector in the end."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from navi.memory.index_errors import IndexBusy
from navi.memory.ingest import index_lock
from navi.memory.read.full_text import id_of
from navi.memory.semantic.semantic_errors import NoVectors
from navi.memory.semantic.semantic_state import semantic_state
from navi.memory.semantic.vectors import backfill, vector_locks, vector_writer
from navi.memory.semantic.vectors.vector_files import MANIFEST
from tests.integration.memory.semantic.semantic_world import SemanticWorld
from tests.memory_world import FixedClock, touch


def test_a_second_run_has_nothing_to_do_and_a_new_message_is_all_that_is_made(
    world: SemanticWorld,
) -> None:
    file = world.file().say("my car is slow").say("paint it red", role="assistant")
    assert world.index_and_embed().passages == 2
    assert world.embed().passages == 0
    file.say("and the garden")
    touch(file.path)
    assert world.index_and_embed().passages == 1
    assert [place[1] for place in world.live_places()] == [0, 1, 2]


def test_the_newest_sessions_come_first(
    world: SemanticWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backfill, "BATCH", 1)
    for name, messages in (("old", 1), ("new", 9), ("middle", 4)):
        file = world.file(name)
        for number in range(messages):
            file.say(f"the {name} garden number {number}")
    world.index_and_embed()
    order = dict.fromkeys(id_of(int(number)) for number in world.vectors.places["session"])
    names = {row[0]: row[1] for row in world.rows("SELECT id, source_session_id FROM sessions")}
    assert [names[id] for id in order] == ["new", "middle", "old"]


def test_an_interrupted_run_keeps_what_is_done_and_the_next_goes_on(
    world: SemanticWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backfill, "BATCH", 2)
    for session in range(3):
        file = world.file(f"s{session}")
        for number in range(5):
            file.say(f"garden {session} and tomato {number}")
    world.index()
    stops = iter([False, False, True])
    first = world.embed(lambda: next(stops))
    assert (first.passages, first.is_complete) == (4, False)
    assert world.open().problem is None  # what is done is searched
    second = world.embed()
    assert (second.passages, second.is_complete) == (11, True)
    assert len(set(world.live_places())) == len(world.live_places()) == 15
    assert world.vectors.manifest.pending == 0


@pytest.mark.parametrize("torn", ["rows", "bits", "places", "sessions", "dead"])
def test_what_a_killed_process_appended_is_cut_off(world: SemanticWorld, torn: str) -> None:
    file = world.file("s1").say("my car is slow")
    world.index_and_embed()
    path = world.paths.vectors / f"{torn}.0"
    with path.open("ab") as appended:
        appended.write(b"\x07" * 13)
    assert world.sessions_found("sluggish automobile") == ["s1"]  # readers don't see it
    file.say("paint the garden red")
    touch(file.path)
    world.index_and_embed()
    assert world.sessions_found("colour of my yard") == ["s1"]
    assert len(world.live_places()) == 2
    assert all(
        os.path.getsize(world.paths.vectors / f"{name}.0") == size
        for name, size in world.vectors.manifest.sizes().items()
    )


@pytest.mark.parametrize("damage", ["cut", "remove", "garble"])
def test_damaged_vectors_are_made_anew_and_words_answer_meanwhile(
    world: SemanticWorld, damage: str
) -> None:
    world.file("s1").say("my car is slow")
    world.index_and_embed()
    folder = world.paths.vectors
    if damage == "cut":
        os.truncate(folder / "rows.0", 10)
    elif damage == "remove":
        (folder / "places.0").unlink()
    else:
        (folder / MANIFEST).write_text('{"format": 1, "mod')
    assert isinstance(world.open().problem, NoVectors)
    assert [hit.source_session_id for hit in world.ask("slow car").hits] == ["s1"]
    assert world.embed().passages == 1
    assert world.sessions_found("sluggish automobile") == ["s1"]


def test_another_model_makes_all_vectors_anew(world: SemanticWorld) -> None:
    world.file("s1").say("my car is slow").say("paint it red")
    world.index_and_embed()
    world.install(seed=2)
    assert isinstance(world.open().problem, NoVectors)
    assert world.embed().passages == 2
    assert world.sessions_found("sluggish automobile") == ["s1"]
    assert sorted(path.name for path in world.paths.vectors.iterdir()) == sorted(
        [MANIFEST, "lock", *(f"{name}.1" for name in world.vectors.manifest.sizes())]
    )


def test_a_session_that_is_read_anew_leaves_no_ghosts(world: SemanticWorld) -> None:
    file = world.file("s1").say("my car is slow").say("paint it red")
    world.index_and_embed()
    file.path.write_bytes(b"")
    file.count = 0
    file.say("a tomato garden")
    touch(file.path)
    world.index(full=True)
    world.embed()
    assert [place[1] for place in world.live_places()] == [0]
    assert world.sessions_found("sluggish automobile") == []
    assert world.sessions_found("tomato yard") == ["s1"]


def test_a_session_that_the_index_no_longer_has_is_not_found(world: SemanticWorld) -> None:
    world.file("s1").say("my car is slow")
    world.file("s2").say("my bike is slow")
    world.index_and_embed()
    shutil.rmtree(world.home / ".claude")
    for path in (world.paths.database, world.paths.file_list):
        path.unlink()
    shutil.rmtree(world.paths.texts)
    world.file("s3").say("a broken server")
    world.index_and_embed()
    assert len(world.live_places()) == 1
    assert world.sessions_found("sluggish automobile") == []
    assert world.sessions_found("defective server") == ["s3"]


def test_files_with_many_dead_rows_are_written_anew(
    world: SemanticWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_writer, "WASTE_ROWS", 2)
    file = world.file("s1").say("my car is slow")
    for _ in range(4):
        file.say("paint it red")
    world.index_and_embed()
    file.path.write_bytes(b"")
    file.count = 0
    file.say("my bike is slow")
    touch(file.path)
    world.index(full=True)
    world.embed()
    manifest = world.vectors.manifest
    assert (manifest.generation, manifest.rows, manifest.dead) == (1, 1, 0)
    assert world.sessions_found("sluggish bicycle") == ["s1"]
    assert world.embed().sessions == 0


def test_a_copy_in_a_resumed_session_gets_the_vector_of_the_original(
    world: SemanticWorld,
) -> None:
    world.file("s1").say("my car is slow")
    world.index_and_embed()
    world.file("s2").say("my car is slow")
    result = world.index_and_embed()
    assert (result.passages, result.reused) == (0, 1)
    assert set(world.sessions_found("sluggish automobile")) == {"s1", "s2"}


def test_only_one_process_makes_vectors(world: SemanticWorld) -> None:
    world.file().say("my car is slow")
    world.index_and_embed()
    with (
        index_lock.exclusive(world.paths.vectors / "lock", "a test", FixedClock().now()),
        pytest.raises(IndexBusy),
    ):
        world.embed()


def test_the_background_gives_way_to_a_persons_command(world: SemanticWorld) -> None:
    for session in range(3):
        world.file(f"s{session}").say(f"garden {session} and tomato")
    world.index()
    folder, now = world.paths.vectors, FixedClock().now()
    with vector_locks.foreground(folder, now, "a test"):
        background = world.embed(lambda: vector_locks.must_give_way(folder))
        assert (background.passages, background.is_complete) == (0, False)
        assert world.embed().passages == 3  # the command itself
    vector_locks.wait_for_foreground(folder)
    assert not vector_locks.must_give_way(folder)


def test_the_state_says_how_many_have_vectors_and_how_many_lack_them(
    world: SemanticWorld, tmp_path: Path
) -> None:
    world.file("s1").say("my car is slow").say("paint it red")
    world.index_and_embed()
    world.file("s2").say("one garden").say("two gardens")
    world.index()
    state = semantic_state(world.paths)
    assert (state.passages, state.pending_sessions, state.pending_messages) == (2, 1, 2)
    assert "to do: 1 session with up to 2 messages" in state.sentence
    world.embed()
    assert "nothing to do" in semantic_state(world.paths).sentence
