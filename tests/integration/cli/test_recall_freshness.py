"""`recall search` and `recall list` answer from a fresh index, or say how old it is."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from navi.memory.ingest import freshness, index_lock
from tests.integration.cli.recall_runs import AS_A_PROCESS, Recall
from tests.memory_world import FixedClock, World


def test_the_first_search_ever_indexes(world: World, recall: Recall) -> None:
    world.file().say("a lonely albatross")
    answer = recall("search", "albatross", "--json")
    assert [hit["snippet"] for hit in answer.json] == ["a lonely albatross"]
    assert "for the first time" in answer.err


def test_the_first_list_ever_indexes(world: World, recall: Recall) -> None:
    world.file().say("a lonely albatross")
    assert [each["title"] for each in recall("list", "--json").json] == ["a lonely albatross"]


def test_the_first_search_waits_for_a_server_that_is_making_the_index(world: World) -> None:
    world.file().say("a lonely albatross")
    world.paths.prepare()
    command = [*AS_A_PROCESS, "search", "albatross", "--json"]
    with index_lock.exclusive(world.paths.lock, "following", FixedClock().now()):
        search = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert search.stderr is not None
        assert "for the first time" in search.stderr.readline()
    output, errors = search.communicate()
    assert [hit["snippet"] for hit in json.loads(output)] == ["a lonely albatross"], errors


def test_what_is_new_is_indexed_before_the_answer(world: World, recall: Recall) -> None:
    file = world.file().say("pear")
    recall("index")
    file.say("plum")
    answer = recall("search", "plum")
    assert "plum" in answer.out
    assert answer.err == ""
    world.file("two").say("quince")
    assert len(recall("list", "--json").json) == 2


def test_a_long_absence_is_named_and_the_old_index_answers(
    world: World, recall: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = world.file().say("pear")
    recall("index")
    hour_ago = os.stat(world.paths.file_list).st_mtime - 3600
    os.utime(world.paths.file_list, (hour_ago, hour_ago))
    monkeypatch.setattr(freshness, "QUICK_BYTES", 10)
    file.say("plum")
    answer = recall("search", "pear", "--json")
    assert len(answer.json) == 1
    assert answer.err == (
        "the index is from 1h ago: 1 file has changed since; `recall index` reads it\n"
    )
    assert recall("search", "plum", "--json").json == []
    world.file("two").say("quince")
    assert "2 files have changed since; `recall index` reads them" in recall("list").err


def test_an_index_that_somebody_follows_is_left_to_them(world: World, recall: Recall) -> None:
    file = world.file().say("pear")
    recall("index")
    file.say("plum")
    with index_lock.shared(world.paths.follower):
        assert recall("search", "plum", "--json").json == []


def test_somebody_elses_writing_does_not_keep_people_from_their_answer(
    world: World, recall: Recall
) -> None:
    file = world.file().say("pear")
    recall("index")
    file.say("plum")
    with index_lock.exclusive(world.paths.lock, "following", FixedClock().now()):
        answer = recall("search", "pear", "--json")
    assert len(answer.json) == 1
    assert f"note: can't index new messages: process {os.getpid()} (`following`" in answer.err


def test_a_killed_run_leaves_nothing_for_the_next_search_to_stumble_over(
    world: World, recall: Recall
) -> None:
    file = world.file().say("pear")
    recall("index")
    world.paths.file_list.unlink()
    file.say("plum")
    assert len(recall("search", "plum", "--json").json) == 1


def test_another_versions_full_text_is_rebuilt_once(
    world: World, recall: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.file().say("pear")
    recall("index")
    monkeypatch.setenv("RECALL_FTS_FIELDS", "content")
    first = recall("search", "pear", "--json")
    assert len(first.json) == 1
    assert "rebuilds the full-text index" in first.err
    assert recall("search", "pear").err == ""


def test_an_index_waits_two_seconds_for_another_and_then_says_whose_it_is(
    world: World, recall: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    from navi.cli.recall.commands import index

    monkeypatch.setattr(index, "PATIENCE_SECONDS", 0.05)
    world.file().say("pear")
    world.paths.prepare()
    with index_lock.exclusive(world.paths.lock, "following", FixedClock().now()):
        answer = recall("index")
    assert answer.code == 1
    assert f"error: process {os.getpid()} (`following`, since" in answer.err
