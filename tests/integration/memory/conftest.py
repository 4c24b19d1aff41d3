"""Real agents' files in a private home, and a real index of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from navi.memory.index_paths import IndexPaths
from tests.conftest import forget_user
from tests.memory_world import World, copy_index


@pytest.fixture(scope="session")
def prepared_index(tmp_path_factory: pytest.TempPathFactory) -> IndexPaths:
    """The index of an empty home. To be copied, never changed."""
    home = tmp_path_factory.mktemp("prepared-index")
    with pytest.MonkeyPatch.context() as patch:
        forget_user(patch)
        patch.setenv("HOME", str(home))
        world = World(home)
        world.index()
        return world.paths


@pytest.fixture
def bare_world(private_home: Path) -> World:
    """Without an index."""
    return World(private_home)


@pytest.fixture
def world(bare_world: World, prepared_index: IndexPaths) -> World:
    """With the index of an empty home."""
    copy_index(prepared_index, bare_world.paths)
    return bare_world
