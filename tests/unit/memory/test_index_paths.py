"""Where the index is, by the user's environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from navi.memory.index_paths import IndexPaths, index_paths


@pytest.mark.parametrize(
    "path",
    ["/a/recall.duckdb", "/a/recall", "/a/.recall", "/a/.recall.x", "/a/b.c.d", "/a/b.", "/a.b/c"],
)
def test_everything_lies_beside_the_database(path: str) -> None:
    database = Path(path)
    where = IndexPaths(database)
    assert where.texts == database.with_suffix(".texts")
    assert where.lock == database.with_suffix(".lock")
    assert where.file_list == database.with_suffix(".files")
    assert where.tags == database.with_suffix(".tags")
    assert where.write_ahead_log == database.with_name(database.name + ".wal")


@pytest.mark.parametrize(
    ("environment", "path"),
    [
        ({"RECALL_DB_PATH": "~/x/mine.db"}, "{home}/x/mine.db"),
        ({"RECALL_DB_PATH": "/x/mine.db/", "RECALL_DATA_DIR": "/y"}, "/x/mine.db"),
        ({"RECALL_DATA_DIR": "here"}, "{here}/here/recall.duckdb"),
        ({"RECALL_DATA_DIR": "~"}, "{home}/recall.duckdb"),
        ({"XDG_DATA_HOME": "/data"}, "/data/recall/recall.duckdb"),
        ({}, "{home}/.local/share/recall/recall.duckdb"),
    ],
)
def test_the_environment_names_the_indexs_folder(environment: dict[str, str], path: str) -> None:
    expected = path.format(home=os.environ["HOME"], here=os.getcwd())
    assert index_paths(environment).database == Path(expected)


def test_nobodys_home_is_not_a_place() -> None:
    with pytest.raises(RuntimeError, match="home directory"):
        index_paths({"RECALL_DATA_DIR": "~nobody-of-this-name/x"})
