"""Two machines that index all the time, while syncs between them are killed."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest

from tests import ssh_stand_in
from tests.machines import Machine
from tests.memory_world import World

pytestmark = [pytest.mark.proof, pytest.mark.timeout(1200)]

KILLS = 20
SESSIONS = 6


def say(home: Path, texts: list[str], moments: random.Random) -> None:
    """Add each text to one of the machine's sessions."""
    world = World(home)
    for text in texts:
        file = world.file(f"{home.name}-{moments.randrange(SESSIONS)}")
        file.count = len(file.path.read_bytes().splitlines())
        file.say(text).run(f"grep {text}", text=f"answer to {text}").printed(f"{text} " * 200)


def recall(folder: Path, host: str, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["recall", *words],
        env=ssh_stand_in.environment(folder, host),
        executable=str(folder / "bin" / "recall"),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@contextmanager
def following(folder: Path, host: str) -> Iterator[None]:
    """A process that keeps the machine's index up to date, as a server does."""
    with recall(folder, host, "watch", "--json") as process:
        yield
        assert process.poll() is None
        process.kill()


def kill_after(process: subprocess.Popen[bytes], seconds: float, moments: random.Random) -> bool:
    """Kill one of the two sides, unless they are done before. Says whether it was killed."""
    with process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            others = psutil.Process(process.pid).children(recursive=True)
            (others[-1] if others and moments.random() < 0.5 else process).kill()
            process.wait()
            psutil.wait_procs(others)
            return True
    return False


@pytest.mark.parametrize("transport", ["ssh", "folder"])
def test_twenty_killed_syncs_lose_and_double_nothing(
    tmp_path: Path, private_home: Path, monkeypatch: pytest.MonkeyPatch, transport: str
) -> None:
    hosts = ["desk", "lap"]
    machines = [Machine(tmp_path / host, monkeypatch) for host in hosts]
    folder = tmp_path / "shared"
    folder.mkdir()
    moments = random.Random(11)
    texts: list[str] = []
    for host in hosts:
        (tmp_path / host).mkdir()
        texts += (new := [f"{host}begin{number}" for number in range(40)])
        say(tmp_path / host, new, moments)

    def sync(number: int) -> subprocess.Popen[bytes]:
        host, other = hosts if number % 2 else hosts[::-1]
        return recall(tmp_path, host, "sync", other if transport == "ssh" else str(folder))

    ssh_stand_in.environment(tmp_path, "desk")
    with ExitStack() as followers:
        for host in hosts:
            followers.enter_context(following(tmp_path, host))
        kills = number = 0
        usual = 60.0
        while kills < KILLS:
            began = time.monotonic()
            if kill_after(sync(number), moments.uniform(0.1, 1.0) * usual, moments):
                kills += 1
            else:
                usual = min(usual, time.monotonic() - began)
            number += 1
            for host in hosts:
                texts += (new := [f"{host}{number}x{each}" for each in range(3)])
                say(tmp_path / host, new, moments)
        for number in range(3):
            with sync(number) as process:
                assert process.wait() == 0
    for each in machines:
        each.index()
    desk, lap = machines
    assert desk.ids() == lap.ids()
    assert len(set(desk.ids())) == len(desk.ids()) == 2 * SESSIONS
    assert desk.rows(desk.ids()) == lap.rows(lap.ids())
    for each in machines:
        with each.world() as world:
            assert world.rows("SELECT count(*), count(DISTINCT id) FROM messages") == [
                (2 * len(texts), 2 * len(texts))
            ]
            lost = [
                text
                for text in texts
                if world.texts(f'"answer to {text}"') != [f"answer to {text}"]
            ]
            assert lost == []
            before = world.everything()
            world.index(recreate=True)
            after = world.everything()
            del before["cards"], after["cards"]  # they say when they were written
            assert after == before
