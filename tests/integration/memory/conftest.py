"""Real agents' files in a private home, and a real index of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.memory_world import World


@pytest.fixture
def world(private_home: Path) -> World:
    return World(private_home)
