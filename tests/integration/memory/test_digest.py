"""What a digest reads from the index."""

from __future__ import annotations

import pytest

from navi.memory import database
from navi.memory.index_errors import IndexUnusable
from navi.memory.overview.digest_rows import digest_rows
from navi.memory.overview.session_profile import profile
from navi.memory.read.statistics import Scope
from tests.memory_world import FixedClock, World


@pytest.mark.parametrize(
    "change", ["DROP TABLE turns", "ALTER TABLE tool_outputs DROP COLUMN is_error"]
)
def test_an_index_of_an_earlier_version_is_refused_with_what_completes_it(
    world: World, change: str
) -> None:
    world.file().say("hello")
    world.index()
    with database.writing(world.paths, FixedClock().now()) as connection:
        connection.execute(change)
    with (
        database.reading(world.paths) as connection,
        pytest.raises(IndexUnusable, match="an earlier version") as refusal,
    ):
        digest_rows(connection, Scope())
    assert refusal.value.hint == "recall index  (completes it)"


@pytest.mark.parametrize(
    ("tool", "arguments", "files"),
    [
        ("Edit", {"file_path": "a.ts", "new_string": "*** a heading", "path": "a.ts"}, ["a.ts"]),
        ("rename_file", {"old_path": "a.ts", "new_path": "b.ts"}, ["a.ts", "b.ts"]),
        ("create_files", {"filePaths": ["a.ts"]}, ["a.ts"]),
        ("edit_file", {"relative_path": "a.ts"}, ["a.ts"]),
        ("write_file", {"AbsolutePath": "/a.ts", "text": '{"path": "b.ts"}'}, ["/a.ts"]),
        (
            "apply_patch",
            {"input": "*** Update File: a.ts\n*** Move to: b.ts\n*** Delete File: c.ts\n"},
            ["a.ts", "b.ts", "c.ts"],
        ),
    ],
)
def test_a_digest_and_a_comparison_name_the_same_changed_files(
    world: World, tool: str, arguments: dict[str, object], files: list[str]
) -> None:
    call = {"type": "tool_use", "id": "t1", "name": tool, "input": arguments}
    world.file().say("go on").line("assistant", [call])
    world.index()
    with database.reading(world.paths) as connection:
        changes = digest_rows(connection, Scope()).changes
        [id] = {row["session_id"] for row in changes}
        assert sorted(profile(connection, id).files_changed) == files
    assert sorted((row["path"], row["changes"]) for row in changes) == [(file, 1) for file in files]
