"""The rules of the test folders, checked on the tests themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.paths import ROOT

NOT_IN_UNIT = (
    "multiprocessing",
    "navi.live.store.engine.transactions",
    "psycopg",
    "socket",
    "sqlite3",
    "subprocess",
    "tests.acceptance",
    "tests.integration",
    "tests.live_world",
    "tests.memory_world",
    "tests.postgres",
    "tests.server",
    "tests.store_world",
)


def test_helpers_are_not_imported_from_tests() -> None:
    files = [path for folder in ("tests", "benchmarks", "docs") for path in python_files(folder)]
    culprits = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files
        for name in imported_by(path)
        if name.startswith("tests.") and any(part.startswith("test_") for part in name.split("."))
    ]
    assert culprits == [], "move what is shared into a module of its own"


def test_unit_tests_start_no_process_and_open_no_store_or_socket() -> None:
    culprits = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in python_files("tests/unit")
        for name in imported_by(path)
        if f"{name}.".startswith(tuple(f"{each}." for each in NOT_IN_UNIT))
    ]
    assert culprits == [], "such a test belongs to tests/integration"


def test_integration_tests_do_not_need_those_of_acceptance() -> None:
    culprits = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in python_files("tests/integration")
        for name in imported_by(path)
        if name.startswith("tests.acceptance.")
    ]
    assert culprits == []


def python_files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def imported_by(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
