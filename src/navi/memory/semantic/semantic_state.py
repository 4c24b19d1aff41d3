"""Whether search by meaning works, and how many sessions lack vectors."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from navi.base.errors import NaviError
from navi.memory.semantic.embedder import vectors_name
from navi.memory.semantic.semantic_errors import NoModel
from navi.memory.semantic.semantic_settings import semantic_settings

if TYPE_CHECKING:
    from navi.memory.index_paths import IndexPaths


@dataclass(frozen=True, slots=True)
class SemanticState:
    model: str
    """The name to show for the model; empty without one."""
    problem: NaviError | None
    """Why nothing can be searched by meaning; None if it can."""
    is_wanted: bool
    """False if nobody has installed a model or configured an endpoint."""
    passages: int = 0
    """How many passages have vectors."""
    pending_sessions: int = 0
    pending_messages: int = 0
    """All messages of those sessions, although some of them may have vectors."""
    bytes: int = 0

    @property
    def sentence(self) -> str:
        if self.problem is not None and not self.pending_sessions:
            return f"by words alone: {self.problem.message}"
        text = f"{self.model}: {self.passages:,} passages have vectors"
        if not self.pending_sessions:
            return f"{text}; nothing to do"
        sessions = (
            "1 session" if self.pending_sessions == 1 else f"{self.pending_sessions:,} sessions"
        )
        return f"{text}; to do: {sessions} with up to {self.pending_messages:,} messages"


def semantic_state(paths: IndexPaths) -> SemanticState:
    model = ""
    try:
        settings = semantic_settings()
        name = vectors_name(paths, settings)
        model = name.partition(" ")[0] if settings.url else name.partition("/")[0]
        return _counted(paths, name, model)
    except NoModel as problem:
        return SemanticState(model, problem, is_wanted=False)
    except NaviError as problem:
        return SemanticState(model, problem, is_wanted=True)


def _counted(paths: IndexPaths, name: str, model: str) -> SemanticState:
    from navi.memory.semantic.model.local_model import require_numpy

    require_numpy()
    from navi.memory.index_errors import NoIndex
    from navi.memory.read.full_text import number_of
    from navi.memory.semantic.semantic_errors import NoVectors
    from navi.memory.semantic.vectors.backfill import sessions_in, stamps_in
    from navi.memory.semantic.vectors.vector_files import open_vectors

    vectors = open_vectors(paths.vectors)
    if vectors is not None and vectors.manifest.model != name:
        vectors = None
    stamps = {} if vectors is None else stamps_in(vectors)
    pending = []
    with suppress(NoIndex):
        pending = [
            each for each in sessions_in(paths) if stamps.get(number_of(each.id)) != each.stamp
        ]
    passages = 0 if vectors is None else vectors.live
    return SemanticState(
        model,
        None if passages or not pending else NoVectors(),
        True,
        passages,
        len(pending),
        sum(each.messages for each in pending),
        0 if vectors is None else sum(vectors.manifest.sizes().values()),
    )
