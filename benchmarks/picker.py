"""How soon the picker appears, and how quickly it reacts to keys.

    python -m benchmarks.picker                    # 10,000 sessions
    python -m benchmarks.picker --sessions 500     # a few seconds, only to check that it works

Runs the real `recall` on a pseudo terminal. A screen is complete when its last byte has arrived.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import psutil

from benchmarks.common import BUILD, percentile, say, say_machine, table
from tests.many_sessions import write_many
from tests.memory_world import World

RECALL = (sys.executable, "-m", "navi.cli.recall.main")
NOTHING = (sys.executable, "-c", "pass")
SIZES = ((80, 24), (200, 50))
STARTS = 15
PAUSE_SECONDS = 0.25
"""Between two keys: about as fast as people type, and enough time for a key's whole effect."""
QUERY = "auth token"
LETTERS = [*QUERY, *("\x7f" * len(QUERY))] * 2
MOVES = ["\x1b[B", "\x1b[B", "\x1b[B", "\x1b[6~"] * 10
"""Down, and page down."""
FIRST_PAINT_MS, KEY_MS = 300, 50
LONGEST_WAIT_SECONDS = 30


class Screen:
    """The picker's terminal."""

    def __init__(self, environment: dict[str, str], columns: int, lines: int) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.started_at = time.perf_counter()
        self._process = subprocess.Popen(
            RECALL, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
        )
        os.close(theirs)

    def press(self, key: str) -> float:
        os.write(self._ours, key.encode())
        return time.perf_counter()

    def arrivals(self, seconds: float) -> Iterator[tuple[float, bytes]]:
        """The output within this time, piece by piece, with the time of each."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            if select.select([self._ours], [], [], left)[0]:
                yield time.perf_counter(), os.read(self._ours, 1 << 16)

    def cpu_ms(self) -> float:
        """The processor time that the picker has taken so far; depends little on other programs."""
        times = psutil.Process(self._process.pid).cpu_times()
        return (times.user + times.system) * 1000

    def close(self) -> None:
        self.press("\x03")
        try:
            for _ in self.arrivals(LONGEST_WAIT_SECONDS):
                pass
        except OSError:  # it has ended
            pass
        self._process.wait(LONGEST_WAIT_SECONDS)
        os.close(self._ours)


@contextmanager
def picker(environment: dict[str, str], columns: int, lines: int) -> Iterator[Screen]:
    screen = Screen(environment, columns, lines)
    try:
        yield screen
    finally:
        screen.close()


def first_paint_ms(screen: Screen, newest: str) -> float:
    """From the start of the process until the list is on the screen."""
    seen = b""
    for at, piece in screen.arrivals(LONGEST_WAIT_SECONDS):
        seen += piece
        if newest.encode() in seen:
            return (at - screen.started_at) * 1000
    raise AssertionError(f"the list did not appear: {seen!r}")


def key_times_ms(screen: Screen, keys: Sequence[str]) -> tuple[list[float], list[float]]:
    """For each key, the time until the screen first changed, and until it was complete."""
    first, last = [], []
    for key in keys:
        pressed_at = screen.press(key)
        times = [(at - pressed_at) * 1000 for at, _ in screen.arrivals(PAUSE_SECONDS)]
        if times:
            first.append(times[0])
            last.append(times[-1])
    return first, last


def measure(environment: dict[str, str], newest: str, columns: int, lines: int) -> list[list[str]]:
    starts, start_work = [], []
    for _ in range(STARTS):
        with picker(environment, columns, lines) as screen:
            starts.append(first_paint_ms(screen, newest))
            start_work.append(screen.cpu_ms())
    with picker(environment, columns, lines) as screen:
        first_paint_ms(screen, newest)
        for _ in screen.arrivals(3.0):  # until the index is up to date and all sessions are read
            pass
        before = screen.cpu_ms()
        letters, answers = key_times_ms(screen, LETTERS)
        letter_work = (screen.cpu_ms() - before) / len(LETTERS)
        moves, previews = key_times_ms(screen, MOVES)
    size = f"{columns}×{lines}"
    return [
        _row(f"first paint, {size}", starts, FIRST_PAINT_MS),
        _row("    processor time until then", start_work),
        _row(f"a letter, until it is drawn, {size}", letters, KEY_MS),
        _row("    until its sessions and preview are", answers),
        _row("    processor time for both", [letter_work]),
        _row(f"an arrow or a page key, until it is drawn, {size}", moves, KEY_MS),
        _row("    until its preview is", previews),
    ]


def _row(what: str, times: list[float], most: int | None = None) -> list[str]:
    p50, p95 = percentile(times, 0.5), percentile(times, 0.95)
    goal = "" if most is None else f"p95 < {most} ms"
    verdict = "" if most is None else "met" if p95 < most else "NOT MET"
    return [what, f"{p50:.1f}", f"{p95:.1f}", goal, verdict]


def prepared(count: int) -> dict[str, str]:
    """The environment of a home with this many sessions, which later runs use again."""
    home = BUILD / "picker" / str(count)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "NAVI_HOME": str(home / "navi"),
        "RECALL_DATA_DIR": str(home / "data"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
    }
    if not (home / "ready").exists():
        say(f"writing and indexing {count:,} sessions")
        home.mkdir(parents=True, exist_ok=True)
        write_many(World(home, sources={}), count)
        subprocess.run([*RECALL, "index"], env=environment, check=True, capture_output=True)
        (home / "ready").touch()
    return environment


def start_ms(environment: dict[str, str]) -> list[float]:
    times = []
    for _ in range(STARTS):
        started_at = time.perf_counter()
        subprocess.run(NOTHING, env=environment, check=True)
        times.append((time.perf_counter() - started_at) * 1000)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.picker")
    parser.add_argument("--sessions", type=int, default=10_000)
    count = parser.parse_args().sessions
    say_machine()
    environment = prepared(count)
    rows = [_row("Python that does nothing", start_ms(environment))]
    for columns, lines in SIZES:
        rows += measure(environment, f"Session {count - 1}:", columns, lines)
    heads = (f"{count:,} sessions", "p50 ms", "p95 ms", "goal", "")
    print(table(heads, rows, right={1, 2}))


if __name__ == "__main__":
    main()
