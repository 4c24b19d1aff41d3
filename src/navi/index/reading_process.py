"""Reading in a process of its own, so that one core reads while another writes.

One such process is enough: reading takes less time than writing what was read.
"""

from __future__ import annotations

import gc
import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO

import msgspec

from navi.index.reading import Failure, Frame, Task, frames_of
from navi.sources.source import Source

Result = Frame | Failure

WORTH_A_PROCESS_BYTES = 24 * 1024 * 1024
"""Less than this is read sooner than a process has started."""
LENGTH_BYTES = 8

_frames = msgspec.msgpack.Decoder(Frame)
_failures = msgspec.msgpack.Decoder(Failure)


def read_all(
    tasks: Sequence[Task], sources: Mapping[str, Source], *, in_parallel: bool = True
) -> Generator[Result, None, None]:
    """All frames of all files, file by file. Memory holds a few frames at most."""
    if not in_parallel or sum(task.size for task in tasks) < WORTH_A_PROCESS_BYTES:
        for task in tasks:
            yield from frames_of(task, sources[task.source])
        return
    left = deque(tasks)
    while left:
        with _reading(left, sources) as results:
            for result in results:
                yield result
                if isinstance(result, Failure) or result.is_last:
                    left.popleft()
        if left:
            # Whatever killed it, the files after this one still have their turn.
            yield Failure(left.popleft().number, "the process that read it died")


@contextmanager
def _reading(tasks: Sequence[Task], sources: Mapping[str, Source]) -> Iterator[Iterator[Result]]:
    # A session of its own: Ctrl-C is for the process that writes, which ends this one.
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "navi.index.reading_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            # If it died at once, its silence will say so.
            with suppress(BrokenPipeError), process.stdin as pipe:
                pickle.dump((dict(sources), list(tasks)), pipe)
            yield _received(process.stdout)
        finally:
            process.kill()


def _received(pipe: IO[bytes]) -> Iterator[Result]:
    while head := pipe.read(LENGTH_BYTES + 1):
        data = pipe.read(int.from_bytes(head[1:], "little"))
        try:
            yield _frames.decode(data) if head[:1] == b"F" else _failures.decode(data)
        except msgspec.DecodeError:
            return  # cut off in the middle


def _read() -> None:
    """The process itself: it learns everything at its start and ends when all is read."""
    # If the writer is gone, so is the reason to go on.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sources, tasks = pickle.load(sys.stdin.buffer)
    # Rows come and go by the thousand and hold no circles: looking for circles is a waste.
    gc.disable()
    encode, pipe = msgspec.msgpack.Encoder().encode, sys.stdout.buffer
    for task in tasks:
        for result in frames_of(task, sources[task.source]):
            data = encode(result)
            kind = b"F" if isinstance(result, Frame) else b"X"
            pipe.write(kind + len(data).to_bytes(LENGTH_BYTES, "little"))
            pipe.write(data)
            pipe.flush()


if __name__ == "__main__":
    _read()
