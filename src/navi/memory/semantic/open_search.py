"""Opens a search by words and by meaning, or else one by words alone, with the reason.

Loading a model takes a moment, so a process that searches often keeps a `SearchOpener`.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from navi.base.errors import NaviError
from navi.memory.read.search import Search
from navi.memory.semantic.embedder import load_embedder, vectors_name
from navi.memory.semantic.semantic_errors import NoVectors
from navi.memory.semantic.semantic_settings import semantic_settings

if TYPE_CHECKING:
    from navi.memory.index_paths import IndexPaths
    from navi.memory.semantic.embedder import Embedder
    from navi.memory.semantic.semantic_settings import SemanticSettings
    from navi.memory.semantic.vectors.vector_files import Vectors

MOST_QUERIES = 256
"""People repeat queries while they narrow them down."""


@dataclass(frozen=True, slots=True)
class OpenSearch:
    search: Search
    problem: NaviError | None
    """Why it uses words alone; None if it doesn't."""
    pending: int = 0
    """Sessions that still lacked vectors when vectors were last made."""


@dataclass(slots=True)
class SearchOpener:
    _embedder: Embedder | None = None
    _name: str = ""
    _queries: OrderedDict[str, Any] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def open(self, paths: IndexPaths, alpha: float | None = None) -> OpenSearch:
        """A search of the index and the vectors in their current state."""
        try:
            settings = semantic_settings()
            name = vectors_name(paths, settings)
            vectors = _vectors(paths, name)
        except NaviError as problem:
            return OpenSearch(Search(paths), problem)
        from navi.memory.semantic.hybrid_search import HybridSearch, Meaning

        def embed(text: str) -> Any:
            return self._vector(text, paths, settings, name)

        meaning = Meaning(vectors, embed, settings.alpha if alpha is None else alpha)
        return OpenSearch(HybridSearch(paths, meaning), None, vectors.manifest.pending)

    def unload(self) -> None:
        """Free the model's memory; the next search loads the model again."""
        with self._lock:
            self._embedder = None
            self._queries.clear()

    def _vector(self, text: str, paths: IndexPaths, settings: SemanticSettings, name: str) -> Any:
        with self._lock:
            if self._name != name or self._embedder is None:
                self._embedder, self._name = load_embedder(paths, settings), name
                self._queries.clear()
            if text not in self._queries:
                self._queries[text] = self._embedder.embed([text])[0]
            self._queries.move_to_end(text)
            if len(self._queries) > MOST_QUERIES:
                self._queries.popitem(last=False)
            return self._queries[text]


def _vectors(paths: IndexPaths, name: str) -> Vectors:
    from navi.memory.semantic.model.local_model import require_numpy

    require_numpy()
    from navi.memory.semantic.vectors.vector_files import open_vectors

    vectors = open_vectors(paths.vectors)
    if vectors is None or vectors.manifest.model != name or not vectors.live:
        raise NoVectors
    return vectors
