"""After a killed index run, the next one leaves the same index as a fresh run."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time

import psutil
import pytest

from tests.integration.memory.index_process import start
from tests.memory_world import World

pytestmark = pytest.mark.proof

KILLS = 20


def readers_of(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    # The command lines are read with the list, so a child that ends meanwhile is left out.
    return [
        child
        for child in psutil.process_iter(["ppid", "cmdline"])
        if child.info["ppid"] == process.pid
        and any("reading_process" in word for word in child.info["cmdline"] or [])
    ]


def test_twenty_kills_at_random_moments_leave_a_good_index(world: World) -> None:
    world.fill(files=12, messages=12)
    began = time.monotonic()
    assert end_of(start(), None) == 0
    whole = time.monotonic() - began
    moments = random.Random(5)
    for number in range(KILLS):
        # Each run has new lines in every file, and some are full runs.
        for each in range(12):
            world.file(f"s{each}", f"p{each % 3}").say(f"new words {number}")
        process = start() if number % 3 else start("--full")
        end_of(process, whole * moments.uniform(0.1, 1.0))
        if number % 5 == 4:
            # In between, the index must answer in whatever state the kill left it.
            world.index()
            assert world.find("thing3")
    world.index()
    before = world.everything()
    world.index(recreate=True)
    assert world.everything() == before
    assert len(world.find('"new words"')) == KILLS * 12


@pytest.mark.parametrize("hit", [1, 2])
@pytest.mark.parametrize(
    "station", ["rows-written", "rows-committed", "texts-written", "texts-committed"]
)
def test_a_kill_at_any_station_is_repaired(world: World, station: str, hit: int) -> None:
    world.fill(files=4, messages=8)
    if hit == 2:  # otherwise the very first run dies
        world.index()
    for number in range(4):
        file = world.file(f"s{number}", f"p{number % 3}")
        if number % 2:
            file.path.write_bytes(b"")
        file.say(f"words of now {number}")
    assert end_of(start(f"--die-at={station}:{hit}"), None) in (0, -signal.SIGKILL)
    world.index()
    before = world.everything()
    world.index(recreate=True)
    assert world.everything() == before
    assert len(world.find('"words of now"')) == 4


def test_the_reader_ends_when_the_process_it_reads_for_is_killed(world: World) -> None:
    world.fill(files=12, messages=40)
    process = start()
    readers: list[psutil.Process] = []
    while process.poll() is None and not readers:
        readers = readers_of(process)
    process.kill()
    process.communicate()
    assert readers
    _, alive = psutil.wait_procs(readers, timeout=20)
    assert alive == []


def test_a_killed_recreate_loses_neither_tags_nor_sessions_without_file(world: World) -> None:
    from navi.memory import database, tags

    gone = world.file("gone").say("pear of old")
    world.fill(files=6, messages=10)
    world.index()
    gone.path.unlink()
    world.index()
    session = world.find("pear")[0].session_id
    with database.writing(world.paths, world.refresh().clock.now()) as connection:
        tags.add(connection, session, ["keep"], world.refresh().clock.now())
    moments = random.Random(11)
    for _ in range(6):
        end_of(start("--recreate"), moments.uniform(0.2, 1.2))
    world.index()
    assert len(world.find("pear")) == 1
    (kept,) = [each for each in world.sessions() if each["id"] == session]
    assert (kept["is_archived"], kept["tags"]) == (True, ["keep"])


def end_of(process: subprocess.Popen[bytes], seconds: float | None) -> int:
    """Kill the process alone, or its whole group at once, like a power cut."""
    try:
        process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    return process.returncode
