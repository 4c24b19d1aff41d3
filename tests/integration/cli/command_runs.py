"""Runs of Navi's commands in the test's own process: starting a Python for each costs far more."""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import IO
from unittest.mock import patch

from navi import __version__
from navi.base import server_version
from navi.cli.navi.main import main as navi_main
from navi.cli.sm.main import main as sm_main

Finished = subprocess.CompletedProcess[str]


def navi(*arguments: str, **environment: str) -> Finished:
    return run(navi_main, ["navi", *arguments], environment)


def sm(*arguments: str, **environment: str) -> Finished:
    return run(sm_main, ["sm", *arguments], environment)


def run(
    main: Callable[[], None],
    words: Sequence[str],
    environment: Mapping[str, str] = {},
    *,
    stdin: IO[str] | None = None,
) -> Finished:
    """What a new process would print and exit with. An error that nobody handles is raised."""
    out, err = _pipe("strict"), _pipe("backslashreplace")
    with (
        open(os.devnull) as nothing,
        as_a_process(environment),
        patch.object(sys, "argv", list(words)),
        patch.object(sys, "stdin", stdin or nothing),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = exit_code(main)
    return subprocess.CompletedProcess(words, code, _text(out), _text(err))


def exit_code(main: Callable[[], None]) -> int:
    try:
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


@contextmanager
def as_a_process(environment: Mapping[str, str]) -> Iterator[None]:
    """Undo what a command changes in its process, and start with what a new process has."""
    umask = os.umask(0o077)
    os.umask(umask)
    level = logging.getLogger("navi").level
    server_version.remember(__version__)
    try:
        with patch.dict(os.environ, environment):
            time.tzset()
            yield
    finally:
        time.tzset()
        server_version.remember(__version__)
        logging.getLogger("navi").setLevel(level)
        os.umask(umask)


def _pipe(errors: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors=errors, newline="")


def _text(pipe: io.TextIOWrapper) -> str:
    pipe.flush()
    buffer = pipe.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()
