"""What the benchmarks share: stores, folders, the machine, tables and verdicts."""

from __future__ import annotations

import math
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import psutil

from tests.postgres import PostgresServer

BUILD = Path(__file__).parents[1] / "build"
"""On a real disk, which `/tmp` often is not."""
STORES = ("sqlite", "postgresql")
QUIET_LOAD = 0.5
VERDICTS = {None: "", True: "met", False: "NOT MET"}
"""Whether a goal was met, in words; None if there is no goal."""
SHOWN_VIOLATIONS = 20


def stores_of(option: str) -> Sequence[str]:
    """The stores that `--store` names."""
    return STORES if option == "both" else (option,)


@contextmanager
def empty_store(store: str) -> Iterator[tuple[Path, str | None]]:
    """A temporary folder, and the URL of an empty database if the store is not a file in it."""
    with tempfile.TemporaryDirectory(prefix="navi-bench-") as name:
        if store == "sqlite":
            yield Path(name), None
            return
        postgres = PostgresServer.start(Path(name) / "postgres")
        try:
            yield Path(name), postgres.create_database()
        finally:
            postgres.stop()


@contextmanager
def work_folder(parent: Path = BUILD) -> Iterator[Path]:
    """A temporary folder. Afterwards it is removed, and all child processes are killed."""
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=parent))
    # PostgreSQL runs as another user if we are root.
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        end_children()
        shutil.rmtree(folder, ignore_errors=True)


def end_children() -> None:
    children = psutil.Process().children(recursive=True)
    for child in children:
        child.kill()
    psutil.wait_procs(children, timeout=5)


def say(text: str, end: str = "\n") -> None:
    """Report progress on stderr; stdout is for figures."""
    print(text, end=end, file=sys.stderr, flush=True)


def say_machine(*details: str) -> None:
    load = os.getloadavg()[0]
    machine = (
        f"{os.cpu_count()} cores, load {load:.1f}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}"
    )
    say(", ".join([machine, *details]))
    if load > QUIET_LOAD:
        say("other programs are running: expect slower figures than on a quiet machine")


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of all values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def table(heads: Sequence[str], lines: Sequence[Sequence[str]], right: Collection[int] = ()) -> str:
    """Columns as wide as they need to be; those in `right` are aligned to the right."""
    rows = [heads, *lines]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]

    def line(row: Sequence[str]) -> str:
        cells = (
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        return "  ".join(cells).rstrip()

    return "\n".join([line(heads), "  ".join("-" * width for width in widths), *map(line, lines)])


def judge(violations: Sequence[str]) -> NoReturn:
    """Print the violations and exit: with 0 if there are none, otherwise with 1."""
    for violation in violations[:SHOWN_VIOLATIONS]:
        print(violation)
    count = len(violations)
    print(f"verdict: {count} violations" if violations else "verdict: the promise was kept")
    sys.exit(1 if violations else 0)
