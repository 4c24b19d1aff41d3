"""Several processes at once: one writes, everybody reads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from navi.memory import database
from navi.memory.index_errors import IndexBusy
from navi.memory.ingest import index_lock
from tests.integration.memory.index_process import start
from tests.memory_world import FixedClock, World


def test_of_two_runs_one_is_told_who_the_other_is(world: World) -> None:
    world.file().say("pear")
    world.paths.prepare()
    with index_lock.exclusive(world.paths.lock, "recall index", FixedClock().now()):
        with pytest.raises(IndexBusy) as refused:
            world.index()
        holder = index_lock.holder(world.paths.lock)
    assert f"process {os.getpid()}" in refused.value.message
    assert "recall index" in refused.value.message
    assert holder is not None
    assert holder.pid == os.getpid()
    assert world.index().indexed == 1
    assert index_lock.holder(world.paths.lock) is None


def test_a_run_waits_for_a_short_pass_of_another_process(world: World) -> None:
    world.file().say("pear")
    world.paths.prepare()
    holding = index_lock.exclusive(world.paths.lock, "following", FixedClock().now())
    holding.__enter__()
    letting_go = threading.Timer(0.2, holding.__exit__, [None, None, None])
    letting_go.start()
    assert replace(world.refresh(), patience_seconds=20).run().indexed == 1
    letting_go.join()


def test_many_runs_at_once_do_no_harm(world: World) -> None:
    world.fill(files=6, messages=10)
    processes = [start() for _ in range(4)]
    outcomes = [(process.communicate()[1], process.returncode) for process in processes]
    assert any(code == 0 for _, code in outcomes)
    for output, code in outcomes:
        assert code == 0 or b"is writing the index" in output
    world.index()
    before = world.everything()
    world.index(recreate=True)
    assert world.everything() == before


def test_searching_listing_and_showing_work_while_something_indexes(world: World) -> None:
    world.file("first", "p0").say("quince")
    world.index()
    world.fill(files=12, messages=40)
    process = start()
    searches = 0
    while process.poll() is None:
        assert world.texts("quince") == ["quince"]
        first = [each for each in world.sessions() if each["source_session_id"] == "first"]
        assert world.transcript(first[0]["id"]).messages[0]["content"] == "quince"
        searches += 1
    assert (process.communicate()[1], process.returncode) == (b"", 0)
    assert searches > 0
    assert len(world.find("thing3")) == 80


def test_a_reader_keeps_no_writer_out_for_long_and_the_other_way_round(world: World) -> None:
    world.file().say("pear")
    world.index()
    world.file("two").say("plum")
    reads = (
        "import sys\nfrom navi.memory import database\n"
        "from navi.memory.index_paths import index_paths\n"
        "with database.reading(index_paths()) as c:\n"
        "    print('open', flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    reader = subprocess.Popen(
        [sys.executable, "-c", reads], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert reader.stdout is not None
    assert reader.stdin is not None
    reader.stdout.readline()
    letting_go = threading.Timer(0.3, reader.communicate, [b"\n"])
    letting_go.start()
    assert world.index().indexed == 1
    letting_go.join()
    reader.wait()


def test_waiting_for_the_index_ends_with_a_message(world: World, monkeypatch) -> None:
    world.file().say("pear")
    world.index()
    monkeypatch.setattr(database, "LOCK_TIMEOUT_SECONDS", 0.05)
    writes = (
        "import sys\nfrom navi.memory import database\n"
        "from navi.memory.index_paths import index_paths\n"
        "from tests.memory_world import FixedClock\n"
        "with database.writing(index_paths(), FixedClock().now()) as c:\n"
        "    print('open', flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    writer = subprocess.Popen(
        [sys.executable, "-c", writes], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert writer.stdout is not None
    writer.stdout.readline()
    with pytest.raises(IndexBusy, match="has the index open"):
        world.rows("SELECT 1")
    assert world.texts("pear") == ["pear"]
    assert len(world.sessions()) == 1
    writer.communicate(b"\n")
