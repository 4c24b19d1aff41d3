"""Which sessions touched a file: by any suffix of its path, for every agent and tool."""

from __future__ import annotations

import json
from typing import Any

import pytest

from navi.memory.read.search import Filters
from tests.memory_world import START, File, World


def use(file: File, tool: str, **arguments: Any) -> File:
    call = {"type": "tool_use", "id": f"t{file.count}", "name": tool, "input": arguments}
    return file.line("assistant", [call])


def rollout(world: World, cwd: str, *payloads: dict[str, Any]) -> None:
    name = "rollout-2026-03-01T12-00-00-01a1e0ae-8ec6-7621-a39a-f47a43681d80.jsonl"
    path = world.home / ".codex" / "sessions" / name
    path.parent.mkdir(parents=True)
    meta = {"type": "session_meta", "payload": {"id": "codex-1", "cwd": cwd}}
    items = [{"type": "response_item", "payload": payload} for payload in payloads]
    lines = [{"timestamp": START.isoformat(), **line} for line in (meta, *items)]
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


@pytest.fixture
def touched(world: World) -> World:
    shop = str(world.home / "shop")
    use(world.file("read"), "Read", file_path=f"{shop}/src/auth/handler.ts")
    use(world.file("edit"), "Edit", file_path=f"{shop}/src/auth/handler.ts", old_string="a")
    use(world.file("other"), "Write", file_path=f"{shop}/src/auth/other-handler.ts", content="")
    world.file("words").say("please look at src/auth/handler.ts")
    patch = "*** Begin Patch\n*** Update File: src/auth/handler.ts\n*** End Patch"
    rollout(
        world,
        shop,
        {"type": "custom_tool_call", "name": "apply_patch", "input": patch},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["cat","x/y.ts"]}'},
    )
    world.index()
    return world


def sessions(world: World, file: str, query: str = "") -> set[str | None]:
    return {hit.source_session_id for hit in world.find(query, Filters(file=file))}


def test_a_file_is_found_by_any_end_of_its_path(touched: World) -> None:
    shop = touched.home / "shop"
    for name in (
        "handler.ts",
        "auth/handler.ts",
        "src/auth/handler.ts",
        "shop/src/auth/handler.ts",
    ):
        assert sessions(touched, name) == {"read", "edit", "codex-1"}, name
    assert sessions(touched, str(shop / "src" / "auth" / "handler.ts")) == {
        "read",
        "edit",
        "codex-1",
    }
    for name in ("andler.ts", "/src/auth/handler.ts", "garden/src/auth/handler.ts", "handler"):
        assert sessions(touched, name) == set(), name
    assert sessions(touched, str(shop / "x" / "y.ts")) == {"codex-1"}


def test_each_touch_says_by_which_tool_and_the_newest_comes_first(touched: World) -> None:
    file = touched.file("edit")
    file.count = 7
    use(file, "MultiEdit", file_path=str(touched.home / "shop/src/auth/handler.ts"))
    touched.index()
    hits = touched.find("", Filters(file="handler.ts"))
    assert [hit.kind for hit in hits] == ["file"] * 4
    assert hits[0].tool_name == "MultiEdit"
    assert {hit.tool_name for hit in hits} == {"Read", "Edit", "MultiEdit", "apply_patch"}
    times = [hit.timestamp for hit in hits if hit.timestamp]
    assert times == sorted(times, reverse=True)
    (shell,) = touched.find("", Filters(file="y.ts"))
    assert (shell.kind, shell.tool_name) == ("bash", "shell")


def test_words_are_looked_for_in_the_sessions_that_touched_the_file(touched: World) -> None:
    touched.file("read").say("a pear in between")
    touched.file("words").say("a pear elsewhere")
    touched.index()
    assert sessions(touched, "handler.ts", "pear") == {"read"}
    hits = touched.find("", Filters(file="handler.ts", tool="read"))
    assert {hit.source_session_id for hit in hits} == {"read"}


def test_a_path_is_found_by_its_words(touched: World) -> None:
    for query in ("src/auth/handler.ts", "handler.ts"):
        hits = {(hit.source_session_id, hit.kind) for hit in touched.find(query)}
        assert {("read", "file"), ("edit", "file"), ("codex-1", "file")} <= hits
        assert ("words", "content") in hits


def test_the_full_text_has_the_same_files_when_it_is_rebuilt(touched: World) -> None:
    before = touched.everything()
    (touched.paths.texts / "meta.json").write_text("{")
    touched.index()
    assert touched.everything() == before
    assert sessions(touched, "handler.ts") == {"read", "edit", "codex-1"}


def test_without_the_field_no_files_are_searched(world: World, monkeypatch) -> None:
    monkeypatch.setenv("RECALL_FTS_FIELDS", "content,bash")
    use(world.file(), "Read", file_path="/p/a.ts")
    world.index()
    assert world.find("a.ts") == []
    assert world.find("", Filters(file="a.ts")) == []
