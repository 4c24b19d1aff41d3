"""Real files of many versions, all in one home, through the whole index."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from navi.memory.read.search import Filters
from tests.memory_world import World, touch
from tests.paths import CORPUS

EXPECTED: dict[str, Any] = json.loads((CORPUS / "EXPECTED.json").read_text())


@pytest.fixture
def full(world: World) -> dict[Path, dict[str, Any]]:
    """Plant the corpus in a home; return the expected content of each file."""
    planted = {}
    for name, expected in EXPECTED.items():
        target = world.home / name.split("/", 2)[2]
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(CORPUS / name, target)
        planted[target] = expected
    return planted


def test_every_session_has_what_was_said_and_done_in_it(
    world: World, full: dict[Path, dict[str, Any]]
) -> None:
    result = world.index()
    assert (result.failed, result.warnings) == (0, [])
    ids = dict(world.rows("SELECT source_path, id FROM sessions"))
    for path, expected in full.items():
        if not expected["lines"]:
            continue
        session = world.transcript(ids[str(path)])
        contents: dict[str, list[str]] = {"user": [], "assistant": [], "system": []}
        calls = [*session.orphan_calls]
        for message in session.messages:
            calls += message["tool_calls"]
            if message["content"]:
                contents[message["role"]].append(message["content"])
        assert len("\n".join(contents["user"])) == len("\n".join(expected["user_prompts"])), path
        assert len(contents["user"]) == len(expected["user_prompts"]), path
        assert "".join("".join(contents["assistant"]).split()) == "".join(
            "".join(expected["assistant_texts"]).split()
        ), path
        assert sorted(call["tool_name"] for call in calls) == sorted(expected["tool_calls"]), path


def test_every_listed_session_has_a_title_of_one_line(
    world: World, full: dict[Path, dict[str, Any]]
) -> None:
    world.index()
    listed = {each["source_path"]: each["title"] for each in world.sessions()}
    assert len(listed) > 30
    for path, title in listed.items():
        assert title, path
        assert title == " ".join(title.split())
        assert not title.startswith(("<", "# AGENTS", "Warmup", "[Request interrupted"))
        prompts = full[Path(path)]["user_prompts"]
        own = full[Path(path)].get("title")
        if prompts and not own and "nice name" not in title:
            assert prompts[0].split("\n")[0][:40].strip() in title


def test_each_prompt_is_found_in_its_session(
    world: World, full: dict[Path, dict[str, Any]]
) -> None:
    world.index()
    ids = dict(world.rows("SELECT source_path, id FROM sessions"))
    for path, expected in full.items():
        for prompt in expected["user_prompts"][:1]:
            words = " ".join(word for word in prompt.split()[:3] if word.isalpha())
            if words:
                session = ids[str(path)]
                hits = world.find(words, Filters(session=session, role="user"))
                assert hits, (path, words)
                assert {hit.session_id for hit in hits} == {session}


def test_files_that_grow_piece_by_piece_end_as_if_read_at_once(
    world: World, full: dict[Path, dict[str, Any]]
) -> None:
    whole = {path: path.read_bytes() for path in full}
    for share in (0.35, 0.7, 1.0):
        for path, data in whole.items():
            path.write_bytes(data[: int(len(data) * share)])
            touch(path, share * 100)
        world.index()
    grown = world.everything()
    world.index(recreate=True)
    assert world.everything() == grown
