"""How old the index is, and whether new files are few enough to read at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from navi.memory.index_settings import searchable_fields
from navi.memory.ingest import freshness as fresh
from navi.memory.ingest import index_lock
from navi.memory.ingest.freshness import Freshness, freshness
from navi.vendors import growing_file
from tests.memory_world import World, touch


def look(world: World, after: timedelta = timedelta(0)) -> Freshness:
    now = datetime.now(UTC) + after
    return freshness(world.paths, world.sources, searchable_fields(), now)


def test_an_index_that_has_everything_is_up_to_date(world: World) -> None:
    world.file().say("pear")
    world.index()
    assert look(world).is_up_to_date


def test_new_lines_are_a_matter_of_moments(world: World) -> None:
    file = world.file().say("pear")
    world.index()
    file.say("plum")
    state = look(world)
    assert not state.is_up_to_date
    assert state.is_quick_to_refresh


def test_of_a_file_that_grew_only_the_rest_counts(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = world.file()
    for _ in range(100):
        file.say("pear")
    world.index()
    monkeypatch.setattr(fresh, "QUICK_BYTES", 1000)
    file.say("plum")
    assert look(world).is_quick_to_refresh
    world.file("two").say("x" * 2000)
    assert not look(world).is_quick_to_refresh


def test_a_followed_index_is_not_compared_with_the_files(world: World) -> None:
    file = world.file().say("pear")
    world.index()
    file.say("plum")
    with index_lock.shared(world.paths.follower):
        state = look(world)
        assert (state.is_followed, state.is_up_to_date, state.scan) == (True, True, None)


def test_a_follower_that_has_not_looked_for_minutes_is_not_trusted(world: World) -> None:
    file = world.file().say("pear")
    world.index()
    file.say("plum")
    with index_lock.shared(world.paths.follower):
        assert not look(world, after=timedelta(minutes=2)).is_up_to_date


def test_without_a_note_of_the_last_run_only_the_index_knows(bare_world: World) -> None:
    bare_world.file().say("pear")
    assert look(bare_world).refreshed_at is None
    bare_world.index()
    bare_world.paths.file_list.unlink()
    state = look(bare_world)
    assert state.refreshed_at is not None
    assert (state.is_up_to_date, state.is_quick_to_refresh) == (False, False)


def test_a_run_with_a_time_limit_stops_and_the_next_one_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        touch(world.file(f"s{number}").say(f"pear{number}").path, seconds=number * 10)
    refresh = world.refresh()
    refresh.time_limit_seconds = 0.0
    first = refresh.run()
    assert (first.indexed, first.unfinished) == (1, 4)
    assert world.texts("pear4") == ["pear4"]  # the newest first
    assert look(world).is_quick_to_refresh
    assert world.index().indexed == 4
    assert [len(world.find(f"pear{number}")) for number in range(5)] == [1] * 5
    assert look(world).is_up_to_date


def test_a_large_file_that_a_time_limit_cut_is_not_indexed_twice(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from navi.memory.ingest import file_reader

    monkeypatch.setattr(growing_file, "BLOCK_BYTES", 100)
    monkeypatch.setattr(growing_file, "CHUNK_BYTES", 1)
    monkeypatch.setattr(file_reader, "CHUNKS_PER_PART", 1)
    file = world.file()
    for number in range(20):
        file.say(f"pear {number}")
    refresh = world.refresh()
    refresh.time_limit_seconds = 0.0
    assert refresh.run().unfinished == 1
    assert world.index().indexed == 1
    assert world.rows("SELECT count(*), count(DISTINCT idx) FROM messages") == [(20, 20)]
    assert len(world.find("pear")) == 20
