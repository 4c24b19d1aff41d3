"""An index, and a tiny model that makes vectors of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from navi.memory.index_paths import IndexPaths, index_paths
from tests.conftest import forget_user
from tests.integration.memory.semantic.semantic_world import SemanticWorld
from tests.memory_world import copy_index
from tests.tiny_model import install_tiny_model


@pytest.fixture(scope="session")
def prepared_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tiny model as it is when installed. To be copied, never changed."""
    folder = tmp_path_factory.mktemp("prepared-model")
    with pytest.MonkeyPatch.context() as patch:
        forget_user(patch)
        patch.setenv("RECALL_DATA_DIR", str(folder))
        install_tiny_model(folder)
        return index_paths().models


@pytest.fixture
def world(
    private_home: Path, tmp_path: Path, prepared_index: IndexPaths, prepared_models: Path
) -> SemanticWorld:
    """With a model, and nothing indexed."""
    world = SemanticWorld(private_home, folder=tmp_path)
    copy_index(prepared_index, world.paths)
    shutil.copytree(prepared_models, world.paths.models)
    return world
