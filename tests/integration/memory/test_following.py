"""The index follows the files by itself."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Queue
from threading import Event, Thread
from typing import Any

import pytest

from navi.base.errors import NaviError
from navi.memory.ingest import index_lock, watch
from navi.memory.ingest.report import RefreshResult
from navi.memory.ingest.watch import Follower, pause_after
from tests.memory_world import FixedClock, World

WAIT_SECONDS = 30


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "SHORTEST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(watch, "LONGEST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(watch, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(watch, "FOLDERS_MILLISECONDS", 100)


class Passes:
    """What a follower reports, in order."""

    def __init__(self, world: World) -> None:
        self._results: Queue[RefreshResult | NaviError] = Queue()
        self.follower = Follower(world.refresh(), self._results.put, self._results.put)

    def next(self) -> RefreshResult | NaviError:
        return self._results.get(timeout=WAIT_SECONDS)

    def next_that_indexed(self) -> RefreshResult:
        while True:
            result = self.next()
            if isinstance(result, RefreshResult) and result.indexed:
                return result


@contextmanager
def followed(world: World) -> Iterator[Passes]:
    passes = Passes(world)
    running = Thread(target=passes.follower.run)
    running.start()
    try:
        yield passes
    finally:
        passes.follower.end()
        running.join(WAIT_SECONDS)


def test_what_is_written_while_the_index_is_followed_is_found(world: World) -> None:
    file = world.file().say("pear")
    with followed(world) as passes:
        assert passes.next_that_indexed().messages == 1
        file.say("plum")
        assert passes.next_that_indexed().messages == 1
    assert world.texts("plum") == ["plum"]


def test_the_first_session_of_an_agent_is_noticed(world: World) -> None:
    with followed(world) as passes:
        first = passes.next()
        assert isinstance(first, RefreshResult)
        assert first.total == 0
        world.file().say("pear")
        passes.next_that_indexed()
    assert world.texts("pear") == ["pear"]


def test_what_changes_before_the_watching_begins_is_found(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = world.file().say("pear")
    watch_folders, may_watch = Follower._watch_folders, Event()

    def watch_late(follower: Follower, folders: list[str]) -> None:
        may_watch.wait(WAIT_SECONDS)
        watch_folders(follower, folders)

    monkeypatch.setattr(Follower, "_watch_folders", watch_late)
    with followed(world) as passes:
        passes.next_that_indexed()
        file.say("plum")
        may_watch.set()
        passes.next_that_indexed()
    assert world.texts("plum") == ["plum"]


def test_folders_that_cannot_be_watched_are_looked_at_every_few_seconds(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_more_watches(*folders: str, **options: Any) -> Any:
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr(watch, "watch", no_more_watches)
    file = world.file().say("pear")
    with followed(world) as passes:
        passes.next_that_indexed()
        file.say("plum")
        passes.next_that_indexed()
    assert world.texts("plum") == ["plum"]


def test_a_pass_waits_until_another_process_is_done(world: World) -> None:
    world.file().say("pear")
    world.paths.prepare()
    with index_lock.exclusive(world.paths.lock, "recall index", FixedClock().now()):
        passes = Passes(world)
        running = Thread(target=passes.follower.run)
        running.start()
    passes.next_that_indexed()
    passes.follower.end()
    running.join(WAIT_SECONDS)


def test_a_problem_is_reported_and_following_goes_on(world: World) -> None:
    world.file().say("pear")
    shutil.rmtree(world.paths.texts)
    world.paths.texts.write_text("a file where a folder should be")
    with followed(world) as passes:
        problem = passes.next()
        assert isinstance(problem, NaviError)
        assert "full-text" in problem.message
        world.paths.texts.unlink()
        passes.follower.request_pass()
        passes.next_that_indexed()


def test_others_can_tell_that_the_index_is_followed(world: World) -> None:
    assert not index_lock.is_held(world.paths.follower)
    with followed(world) as one:
        one.next()
        assert index_lock.is_held(world.paths.follower)
        with followed(world) as another:
            another.next()
        assert index_lock.is_held(world.paths.follower)
    assert not index_lock.is_held(world.paths.follower)


def test_agents_that_write_all_the_time_leave_three_quarters_of_a_core() -> None:
    watch.SHORTEST_PAUSE_SECONDS, watch.LONGEST_PAUSE_SECONDS = 0.5, 3.0
    assert [pause_after(each) for each in (0.01, 0.4, 60)] == [0.5, pytest.approx(1.2), 3.0]


def test_the_command_reports_passes_and_ends_with_its_input(world: World) -> None:
    world.file().say("pear")
    command = [sys.executable, "-m", "navi.cli.recall.main", "watch", "--json"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        report = json.loads(process.stdout.readline())
        assert report["indexed"] == 1
        assert report["refreshed_at"].endswith("Z")
        world.file("two").say("plum")
        process.stdin.write("\n")
        process.stdin.flush()
        while json.loads(process.stdout.readline())["indexed"] != 1:
            pass
        _, errors = process.communicate(timeout=WAIT_SECONDS)
    assert errors.strip() == ""
    assert not index_lock.is_held(world.paths.follower)
