"""Runs file_reader.py in a process of its own, so that one core reads while another writes.

One such process is enough: reading is faster than writing.
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
from threading import Condition, Thread
from typing import IO

import msgspec

from navi.base.python_command import python_module
from navi.memory.ingest.file_reader import Failure, FilePart, Task, parts_of
from navi.vendors.source import Source

Result = FilePart | Failure

WORTH_A_PROCESS_BYTES = 24 * 1024 * 1024
"""Reading less than this is faster than starting a process."""
MOST_BYTES_AHEAD = 32 * 1024 * 1024
LENGTH_BYTES = 8

_decoder: msgspec.msgpack.Decoder[Result] = msgspec.msgpack.Decoder(FilePart | Failure)


def read_all(
    tasks: Sequence[Task], sources: Mapping[str, Source], *, in_parallel: bool = True
) -> Generator[Result, None, None]:
    """The parts of all files, in order. Only a few are in memory at a time."""
    if not in_parallel or sum(task.size for task in tasks) < WORTH_A_PROCESS_BYTES:
        for task in tasks:
            yield from parts_of(task, sources[task.source])
        return
    remaining = deque(tasks)
    while remaining:
        with _reading_process(remaining, sources) as results:
            for result in results:
                yield result
                if isinstance(result, Failure) or result.is_last:
                    remaining.popleft()
        if remaining:
            # Skip only the file that the process died at; a new process reads the others.
            yield Failure(remaining.popleft().number, "the process reading it died")


@contextmanager
def _reading_process(
    tasks: Sequence[Task], sources: Mapping[str, Source]
) -> Iterator[Iterator[Result]]:
    # In a Unix session of its own: Ctrl-C reaches only the writing process, which ends this one.
    process = subprocess.Popen(
        python_module("navi.memory.ingest.reading_process"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            # If the process died at once, `read_all` notices that results are missing.
            with suppress(BrokenPipeError), process.stdin as pipe:
                pickle.dump((dict(sources), list(tasks)), pipe)
            read_ahead = _ReadAhead()
            Thread(target=read_ahead.receive, args=[process.stdout], daemon=True).start()
            yield read_ahead.results()
        finally:
            process.kill()


class _ReadAhead:
    """Holds results while the writer is busy; a pipe alone would block the reading process."""

    def __init__(self) -> None:
        self._encoded_results: deque[bytes] = deque()
        self._bytes = 0
        self._has_ended = False
        self._changed = Condition()

    def receive(self, pipe: IO[bytes]) -> None:
        """Runs in its own thread until the process ends."""
        while head := pipe.read(LENGTH_BYTES):
            encoded = pipe.read(int.from_bytes(head, "little"))
            with self._changed:
                self._changed.wait_for(lambda: self._bytes < MOST_BYTES_AHEAD)
                self._encoded_results.append(encoded)
                self._bytes += len(encoded)
                self._changed.notify_all()
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    def results(self) -> Iterator[Result]:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._encoded_results or self._has_ended)
                if not self._encoded_results:
                    return
                encoded = self._encoded_results.popleft()
                self._bytes -= len(encoded)
                self._changed.notify_all()
            try:
                yield _decoder.decode(encoded)
            except msgspec.DecodeError:
                return  # the process died while sending it


def _run() -> None:
    """Read all tasks from standard input, and write their results to standard output."""
    # End the process when the writer is gone.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sources, tasks = pickle.load(sys.stdin.buffer)
    # Rows have no reference cycles, so garbage collection would only cost time.
    gc.disable()
    encode, pipe = msgspec.msgpack.Encoder().encode, sys.stdout.buffer
    for task in tasks:
        for result in parts_of(task, sources[task.source]):
            data = encode(result)
            pipe.write(len(data).to_bytes(LENGTH_BYTES, "little"))
            pipe.write(data)
            pipe.flush()


if __name__ == "__main__":
    _run()
