"""Makes the vectors that are missing, the newest sessions first.

Missing vectors are found by comparing DuckDB with the existing vectors; there is no stored list. So
a run may stop at any point, and the next one continues there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from navi.memory import database
from navi.memory.index_errors import NoIndex
from navi.memory.index_paths import IndexPaths
from navi.memory.read.full_text import ROLES, agent_number, number_of
from navi.memory.semantic.vectors import vector_locks
from navi.memory.semantic.vectors.passages import digest, passages, versioned
from navi.memory.semantic.vectors.vector_files import NO_TIME, Array, Vectors
from navi.memory.semantic.vectors.vector_writer import VectorWriter, new_places, quantized

if TYPE_CHECKING:
    from navi.memory.semantic.embedder import Embedder

MESSAGES_READ = 5_000
"""How many messages to read from DuckDB at a time, in whole sessions: writers wait for readers."""
BATCH = 64
"""Passages between two commits: about a second's work for one core."""

SESSIONS = (
    "SELECT id, source, message_count, epoch_us(indexed_at), file_mtime, file_size FROM sessions "
    "WHERE message_count > 0 AND NOT is_warmup "
    "ORDER BY coalesce(ended_at, started_at, indexed_at) DESC"
)
MESSAGES = (
    "SELECT session_id, idx, role, content, epoch_us(timestamp) FROM messages "
    "WHERE session_id IN (SELECT unnest(?)) AND role IN ('user', 'assistant') "
    "AND content IS NOT NULL ORDER BY session_id, idx"
)


class Session(NamedTuple):
    id: str
    source: str
    messages: int
    stamp: int


class NewPassage(NamedTuple):
    session: Session
    idx: int
    part: int
    role: str
    at: int | None
    text: str
    digest: int


@dataclass(frozen=True, slots=True)
class BackfillProgress:
    passages: int
    """How many vectors were made so far."""
    messages: int
    all_messages: int
    """Of the sessions that lacked vectors when the run began."""


@dataclass(slots=True)
class BackfillResult:
    passages: int = 0
    reused: int = 0
    """Copies of passages that had a vector already; not counted in `passages`."""
    sessions: int = 0
    is_complete: bool = True
    seconds: float = 0.0


def ignore_progress(_: BackfillProgress) -> None:
    pass


@dataclass(slots=True)
class Backfill:
    paths: IndexPaths
    embedder: Embedder
    now: Callable[[], datetime]
    on_progress: Callable[[BackfillProgress], None] = ignore_progress
    should_stop: Callable[[], bool] = lambda: False
    result: BackfillResult = field(default_factory=BackfillResult)
    _sessions: int = 0
    _messages: int = 0
    _all_messages: int = 0

    def run(self) -> BackfillResult:
        started = time.perf_counter()
        folder = self.paths.vectors
        with vector_locks.writing(folder, self.now(), "recall index --embed"):
            writer = VectorWriter.open(
                folder, versioned(self.embedder.name), self.embedder.dimensions
            )
            pending, gone = self._pending(writer.vectors)
            if len(gone) or len(pending) != writer.vectors.manifest.pending:
                no_rows = _no_rows(self.embedder.dimensions)
                writer.append(*no_rows, dead=gone, pending=len(pending))
            self._sessions = len(pending)
            self._all_messages = sum(session.messages for session in pending)
            for group in _groups(pending):
                if self.should_stop():
                    self.result.is_complete = False
                    break
                self._fill(writer, group)
                if not self.result.is_complete:
                    break
            writer.compact()
        self.result.seconds = round(time.perf_counter() - started, 3)
        return self.result

    def _pending(self, vectors: Vectors) -> tuple[list[Session], Array]:
        """Sessions with passages to make, newest first, and rows of sessions that are gone."""
        sessions: list[Session] = []
        with suppress(NoIndex):
            sessions = sessions_in(self.paths)
        stamps = stamps_in(vectors)
        numbers = np.array([number_of(each.id) for each in sessions], np.uint64)
        gone = ~np.isin(vectors.places["session"], numbers) & ~vectors.is_dead
        pending = [each for each in sessions if stamps.get(number_of(each.id)) != each.stamp]
        return pending, np.flatnonzero(gone)

    def _fill(self, writer: VectorWriter, group: list[Session]) -> None:
        """Make these sessions' missing vectors. A session is complete once none is missing."""
        by_id = {session.id: session for session in group}
        with database.reading(self.paths) as connection:
            rows = connection.execute(MESSAGES, [list(by_id)]).fetchall()
        by_session: dict[str, list[NewPassage]] = {session.id: [] for session in group}
        for session_id, idx, role, content, at in rows:
            for part, text in enumerate(passages(content)):
                passage = NewPassage(by_id[session_id], idx, part, role, at, text, digest(text))
                by_session[session_id].append(passage)
        changes = _changes(writer.vectors, by_id, by_session)
        dead: list[int] = []
        batch: list[NewPassage] = []
        complete: list[Session] = []
        for session, missing, replaced in changes:
            dead += replaced
            for passage in missing:
                batch.append(passage)
                if len(batch) == BATCH:
                    self._make(writer, batch, dead, complete)
                    batch, dead, complete = [], [], []
                    if self.should_stop():
                        self.result.is_complete = False
                        return
            complete.append(session)
        self._make(writer, batch, dead, complete)

    def _make(
        self,
        writer: VectorWriter,
        batch: list[NewPassage],
        dead: list[int],
        complete: list[Session],
    ) -> None:
        places, rows = _no_rows(self.embedder.dimensions)
        if batch:
            places = _places(batch)
            rows, places["scale"] = self._vectors(writer.vectors, batch)
        stamps = [(number_of(session.id), session.stamp) for session in complete]
        self.result.sessions += len(complete)
        writer.append(places, rows, dead, stamps, self._sessions - self.result.sessions)
        self._messages += sum(session.messages for session in complete)
        self.on_progress(BackfillProgress(self.result.passages, self._messages, self._all_messages))

    def _vectors(self, vectors: Vectors, batch: list[NewPassage]) -> tuple[Array, Array]:
        """Rows and their scales. Copies, as in resumed sessions, get the row of the original."""
        originals = _originals(vectors, {passage.digest for passage in batch})
        texts = {each.digest: each.text for each in batch if each.digest not in originals}
        made: dict[int, tuple[Array, float]] = {}
        if texts:
            rows, scales = quantized(self.embedder.embed(list(texts.values())))
            made = dict(zip(texts, zip(rows, scales.tolist(), strict=True), strict=True))
        self.result.passages += len(texts)
        self.result.reused += len(batch) - len(texts)
        rows_and_scales = [made.get(each.digest) or originals[each.digest] for each in batch]
        return np.array([row for row, _ in rows_and_scales], np.int8), np.array(
            [scale for _, scale in rows_and_scales], np.float32
        )


def sessions_in(paths: IndexPaths) -> list[Session]:
    """All sessions with messages, newest first."""
    with database.reading(paths) as connection:
        rows = connection.execute(SESSIONS).fetchall()
    return [Session(id, source, count, _stamp(count, *rest)) for id, source, count, *rest in rows]


def stamps_in(vectors: Vectors) -> dict[int, int]:
    """By session number, the stamp with which the session's vectors were last complete."""
    return dict(
        zip(vectors.sessions["session"].tolist(), vectors.sessions["stamp"].tolist(), strict=True)
    )


def _stamp(*state: Any) -> int:
    """A number that changes with the session's row."""
    return int.from_bytes(blake2b(repr(state).encode(), digest_size=8).digest(), "little")


def _groups(pending: list[Session]) -> Iterator[list[Session]]:
    group: list[Session] = []
    for session in pending:
        group.append(session)
        if sum(each.messages for each in group) >= MESSAGES_READ:
            yield group
            group = []
    if group:
        yield group


def _changes(
    vectors: Vectors, sessions: Mapping[str, Session], by_session: Mapping[str, list[NewPassage]]
) -> list[tuple[Session, list[NewPassage], list[int]]]:
    """For each session the passages that lack a vector, and rows of passages that are gone."""
    numbers = {number_of(id): id for id in by_session}
    wanted = np.isin(vectors.places["session"], np.array(list(numbers), np.uint64))
    existing: dict[str, dict[tuple[int, int], tuple[int, int]]] = {id: {} for id in by_session}
    for row in np.flatnonzero(wanted & ~vectors.is_dead).tolist():
        place = vectors.places[row]
        key = (int(place["idx"]), int(place["part"]))
        existing[numbers[int(place["session"])]][key] = (int(place["digest"]), row)
    changes = []
    for id, all_passages in by_session.items():
        current = {(each.idx, each.part): each.digest for each in all_passages}
        dead = [row for key, (old, row) in existing[id].items() if current.get(key) != old]
        missing = [
            each
            for each in all_passages
            if existing[id].get((each.idx, each.part), (None,))[0] != each.digest
        ]
        changes.append((sessions[id], missing, dead))
    return changes


def _places(batch: list[NewPassage]) -> Array:
    places = new_places(len(batch))
    places["session"] = [number_of(each.session.id) for each in batch]
    places["at"] = [NO_TIME if each.at is None else each.at for each in batch]
    places["digest"] = [each.digest for each in batch]
    places["agent"] = [agent_number(each.session.source) for each in batch]
    places["idx"] = [each.idx for each in batch]
    places["part"] = [each.part for each in batch]
    places["role"] = [ROLES.index(each.role) for each in batch]
    return places


def _originals(vectors: Vectors, digests: set[int]) -> dict[int, tuple[Array, float]]:
    """By digest, a row that has the same text, and its scale."""
    if not len(vectors.places):
        return {}
    same = np.flatnonzero(np.isin(vectors.places["digest"], np.array(sorted(digests), np.uint64)))
    return {
        int(vectors.places["digest"][row]): (
            np.array(vectors.rows[row]),
            float(vectors.places["scale"][row]),
        )
        for row in same.tolist()
    }


def _no_rows(dimensions: int) -> tuple[Array, Array]:
    return new_places(0), np.zeros((0, dimensions), np.int8)
