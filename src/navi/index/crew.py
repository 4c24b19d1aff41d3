"""Processes that read files. Each is handed the next file as soon as it is done with one."""

from __future__ import annotations

import gc
import signal
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from navi.index.reading import Failure, Frame, Task, frames_of
from navi.sources.source import Source

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

Result = Frame | Failure

WORKERS = 2
WORTH_PROCESSES_BYTES = 24 * 1024 * 1024
"""Less than this is read sooner than a process has started."""
TASKS_AHEAD = 2

_tasks = msgspec.msgpack.Decoder(Task)
_frames = msgspec.msgpack.Decoder(Frame)
_failures = msgspec.msgpack.Decoder(Failure)


def read_all(
    tasks: Sequence[Task], sources: Mapping[str, Source], workers: int = WORKERS
) -> Generator[Result, None, None]:
    """All frames of all files; those of one file in order. Memory holds a few frames at most."""
    if workers < 2 or sum(task.size for task in tasks) < WORTH_PROCESSES_BYTES:
        for task in tasks:
            yield from frames_of(task, sources[task.source])
        return
    crew = _Crew(sources, min(workers, len(tasks)))
    try:
        yield from crew.read(tasks)
    finally:
        crew.end()


class _Crew:
    def __init__(self, sources: Mapping[str, Source], size: int) -> None:
        # Only where it is used: a small run reads its files itself.
        from multiprocessing import get_context

        # Spawned, not forked: the caller may have threads, and a fork would copy their locks.
        context = get_context("spawn")
        self._members: dict[Connection, BaseProcess] = {}
        self._open: dict[Connection, deque[Task]] = {}
        for _ in range(size):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, dict(sources)), daemon=True)
            process.start()
            theirs.close()
            self._members[ours] = process
            self._open[ours] = deque()

    def read(self, tasks: Sequence[Task]) -> Iterator[Result]:
        from multiprocessing.connection import Connection, wait

        waiting = deque(tasks)
        for _ in range(TASKS_AHEAD):
            for member in self._open:
                self._hand(member, waiting)
        while busy := [member for member, open_tasks in self._open.items() if open_tasks]:
            for ready in wait(busy):
                assert isinstance(ready, Connection)
                try:
                    result = _received(ready)
                except (EOFError, OSError):
                    yield from self._lost(ready)
                    continue
                yield result
                if isinstance(result, Failure) or result.is_last:
                    self._open[ready].popleft()
                    self._hand(ready, waiting)
        for task in waiting:  # only if every process died
            yield Failure(task.number, "the process that should read it died")

    def end(self) -> None:
        for member, process in self._members.items():
            member.close()
            process.terminate()
            process.join()

    def _hand(self, member: Connection, waiting: deque[Task]) -> None:
        if not waiting:
            return
        task = waiting.popleft()
        try:
            member.send_bytes(msgspec.msgpack.encode(task))
        except OSError:
            waiting.appendleft(task)
            return
        self._open[member].append(task)

    def _lost(self, member: Connection) -> Iterator[Failure]:
        for task in self._open.pop(member):
            yield Failure(task.number, "the process that read it died")


def _received(member: Connection) -> Result:
    data = memoryview(member.recv_bytes())
    return _frames.decode(data[1:]) if data[0] == ord("F") else _failures.decode(data[1:])


def _work(pipe: Connection, sources: Mapping[str, Source]) -> None:
    # Ctrl-C reaches the whole group; the process that collects decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Rows come and go by the thousand and hold no circles: looking for circles is a waste.
    gc.disable()
    encoder = msgspec.msgpack.Encoder()
    try:
        while True:
            task = _tasks.decode(pipe.recv_bytes())
            for result in frames_of(task, sources[task.source]):
                head = b"F" if isinstance(result, Frame) else b"X"
                pipe.send_bytes(head + encoder.encode(result))
    except (EOFError, OSError):
        return  # nobody wants more
