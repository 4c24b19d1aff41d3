"""Turns texts into vectors, with the installed model or with an endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from navi.memory.semantic import endpoint_model
from navi.memory.semantic.model.local_model import LocalModel
from navi.memory.semantic.model.model_files import installed_model
from navi.memory.semantic.semantic_errors import NoModel, SwitchedOff
from navi.memory.semantic.vectors import passages

if TYPE_CHECKING:
    import numpy as np

    from navi.memory.index_paths import IndexPaths
    from navi.memory.semantic.semantic_settings import SemanticSettings

    Array = np.ndarray[Any, Any]


class Embedder(Protocol):
    name: str
    dimensions: int

    def embed(self, texts: Sequence[str]) -> Array:
        """A vector of length 1 for each text."""


def load_embedder(paths: IndexPaths, settings: SemanticSettings, *, threads: int = 1) -> Embedder:
    """Raises `SemanticUnavailable` if there is nothing to make vectors with."""
    vectors_name(paths, settings)  # raises if there is no model
    if settings.url is not None:
        return endpoint_model.EndpointModel(settings)
    model = installed_model(paths)
    assert model is not None
    return LocalModel(model, threads=threads)


def vectors_name(paths: IndexPaths, settings: SemanticSettings) -> str:
    """The name of the vectors. Vectors with another name can't be compared, and are made again.

    Loads nothing. Raises `SemanticUnavailable` if there is nothing to make vectors with.
    """
    if not settings.is_enabled:
        raise SwitchedOff
    if settings.url is not None:
        name = endpoint_model.vectors_name(settings)
    else:
        model = installed_model(paths)
        if model is None:
            raise NoModel
        name = model.vectors_name
    return passages.versioned(name)
