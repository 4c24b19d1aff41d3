"""Real Claude Code and real Codex, on a stand-in for the models, in a private home."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.clients.model_stand_in import ModelStandIn, running_stand_in
from tests.acceptance.clients.world import DRIVERS, NotInstalled, World, make_world, native
from tests.server import Client

__all__ = ["DRIVERS", "World", "native"]


@pytest.fixture(scope="session")
def models() -> Iterator[ModelStandIn]:
    with running_stand_in() as stand_in:
        yield stand_in


@pytest.fixture
def world(tmp_path: Path, models: ModelStandIn) -> Iterator[World]:
    try:
        world = make_world(tmp_path, models)
    except NotInstalled as reason:
        pytest.skip(str(reason))
    try:
        yield world
    finally:
        sys.stderr.write(world.screens())  # shown if the test failed
        world.leave()


@pytest.fixture
async def client(world: World) -> AsyncIterator[Client]:
    world.serve()
    async with world.client() as client:
        yield client


def frames_of(frames: list[dict[str, Any]], type_: str) -> list[dict[str, Any]]:
    return [frame for frame in frames if frame["type"] == type_]


def text_of(frames: list[dict[str, Any]]) -> str:
    return "".join(frame["delta"] for frame in frames_of(frames, "stream_delta"))


def outcomes(frames: list[dict[str, Any]]) -> list[str]:
    """How the turns ended: the status, or the error text."""
    ends = frames_of(frames, "stream_end")
    return [end["error"] if end["outcome"] == "error" else end["outcome"] for end in ends]
