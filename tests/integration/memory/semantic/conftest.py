"""An index, and a tiny model that makes vectors of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.memory.semantic.semantic_world import SemanticWorld


@pytest.fixture
def world(private_home: Path, tmp_path: Path) -> SemanticWorld:
    """With a model, and nothing indexed."""
    world = SemanticWorld(private_home, folder=tmp_path)
    world.install()
    return world
