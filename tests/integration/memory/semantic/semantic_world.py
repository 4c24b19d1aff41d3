"""A home with transcripts, their index, and vectors made by a tiny model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from navi.memory.read.search import Filters, Search, SearchResult
from navi.memory.semantic.embedder import load_embedder
from navi.memory.semantic.open_search import OpenSearch, SearchOpener
from navi.memory.semantic.semantic_settings import semantic_settings
from navi.memory.semantic.vectors.backfill import Backfill, BackfillResult
from navi.memory.semantic.vectors.vector_files import Vectors, open_vectors
from tests.memory_world import FixedClock, World
from tests.tiny_model import install_tiny_model


@dataclass(slots=True)
class SemanticWorld(World):
    folder: Path = field(kw_only=True)

    def install(self, seed: int = 1) -> None:
        install_tiny_model(self.folder, seed=seed)

    def embed(self, should_stop: Callable[[], bool] = lambda: False) -> BackfillResult:
        embedder = load_embedder(self.paths, semantic_settings())
        return Backfill(self.paths, embedder, FixedClock().now, should_stop=should_stop).run()

    def index_and_embed(self) -> BackfillResult:
        self.index()
        return self.embed()

    @property
    def vectors(self) -> Vectors:
        vectors = open_vectors(self.paths.vectors)
        assert vectors is not None
        return vectors

    def open(self, alpha: float | None = None) -> OpenSearch:
        return SearchOpener().open(self.paths, alpha)

    def ask(
        self, text: str, filters: Filters | None = None, *, alpha: float | None = None, **more: bool
    ) -> SearchResult:
        return self.open(alpha).search.find(text, filters or Filters(), **more)

    def sessions_found(self, text: str, filters: Filters | None = None) -> list[str | None]:
        hits = self.ask(text, filters).hits
        return list(dict.fromkeys(hit.source_session_id for hit in hits))

    def by_words(self, text: str) -> SearchResult:
        return Search(self.paths).find(text)

    def live_places(self) -> list[tuple[int, int, int, int]]:
        """Session, message, part and text of every passage that has a vector, sorted."""
        vectors = self.vectors
        rows = vectors.places[~vectors.is_dead]
        names = ("session", "idx", "part", "digest")
        return sorted(tuple(int(row[name]) for name in names) for row in rows)  # type: ignore[misc]
