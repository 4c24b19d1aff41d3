"""Appends to the files of the vectors. The caller holds the folder's lock."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from navi.memory.semantic.vectors.vector_files import (
    PLACE,
    SESSION,
    Array,
    Manifest,
    Vectors,
    bit_bytes,
    empty,
    open_vectors,
    path_of,
    read_manifest,
    save_manifest,
)

LARGEST = 127
WASTE_ROWS = 1000
"""With fewer dead rows, writing all files anew is not worth it."""
NUMBERED = ("rows.", "bits.", "places.", "sessions.", "dead.")
COPIED_ROWS = 100_000


@dataclass(slots=True)
class VectorWriter:
    folder: Path
    vectors: Vectors
    """As of the last commit."""

    @classmethod
    def open(cls, folder: Path, model: str, dimensions: int) -> VectorWriter:
        """Remove data that a killed process left, and vectors of another model."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        manifest, vectors = read_manifest(folder), open_vectors(folder)
        is_usable = vectors is not None and (
            (vectors.manifest.model, vectors.manifest.dimensions) == (model, dimensions)
        )
        if not is_usable or vectors is None:
            _start(folder, empty(model, dimensions, manifest))
            vectors = open_vectors(folder)
            assert vectors is not None
        _cut(folder, vectors.manifest)
        _remove_others(folder, vectors.manifest)
        return cls(folder, vectors)

    def append(
        self,
        places: Array,
        rows: Array,
        dead: Iterable[int] = (),
        sessions: Iterable[tuple[int, int]] = (),
        pending: int = 0,
    ) -> None:
        """Adds rows, and sessions that are complete with them, in one step.

        `pending` sessions still lack vectors.
        """
        manifest = self.vectors.manifest
        dead_rows = np.fromiter(dead, np.dtype("<u4"))
        stamps = np.array(list(sessions), SESSION)
        for name, array in (
            ("rows", rows),
            ("bits", signs(rows)),
            ("places", places),
            ("dead", dead_rows),
            ("sessions", stamps),
        ):
            _append(path_of(self.folder, name, manifest), array)
        self._commit(
            replace(
                manifest,
                rows=manifest.rows + len(places),
                dead=manifest.dead + len(dead_rows),
                sessions=manifest.sessions + len(stamps),
                pending=pending,
            )
        )

    def compact(self) -> None:
        """Write everything anew without the dead rows, if there are many."""
        old = self.vectors
        latest = {int(each["session"]): int(each["stamp"]) for each in old.sessions}
        many_rows = len(old.dead) > max(WASTE_ROWS, old.live // 4)
        many_sessions = len(old.sessions) > max(WASTE_ROWS, 4 * len(latest))
        if not many_rows and not many_sessions:
            return
        manifest = empty(old.manifest.model, old.manifest.dimensions, old.manifest)
        _create(self.folder, manifest)
        live = np.flatnonzero(~old.is_dead)
        for start in range(0, len(live), COPIED_ROWS):
            chosen = live[start : start + COPIED_ROWS]
            for name, array in (("rows", old.rows), ("bits", old.bits), ("places", old.places)):
                _append(path_of(self.folder, name, manifest), array[chosen])
        stamps = np.array(list(latest.items()), SESSION)
        _append(path_of(self.folder, "sessions", manifest), stamps)
        pending = old.manifest.pending
        self._commit(replace(manifest, rows=len(live), sessions=len(stamps), pending=pending))
        _remove_others(self.folder, self.vectors.manifest)

    def _commit(self, manifest: Manifest) -> None:
        save_manifest(self.folder, manifest)
        vectors = open_vectors(self.folder)
        assert vectors is not None
        self.vectors = vectors


def quantized(vectors: Array) -> tuple[Array, Array]:
    """Rows of 8-bit integers, and the scale of each row."""
    scales = np.maximum(np.abs(vectors).max(axis=1, initial=0), 1e-9) / LARGEST
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def signs(rows: Array) -> Array:
    """A bit for each number, set if it is positive; each row is padded to 64-bit words."""
    bits = np.packbits(rows > 0, axis=1)
    padding = bit_bytes(rows.shape[1]) - bits.shape[1]
    return np.pad(bits, ((0, 0), (0, padding)))


def new_places(count: int) -> Array:
    return np.zeros(count, PLACE)


def _start(folder: Path, manifest: Manifest) -> None:
    _create(folder, manifest)
    save_manifest(folder, manifest)


def _create(folder: Path, manifest: Manifest) -> None:
    """Empty files, even if a killed process has begun to write them."""
    for name in manifest.sizes():
        with open(path_of(folder, name, manifest), "wb"):
            pass


def _append(path: Path, array: np.ndarray[Any, Any]) -> None:
    if not len(array):
        return
    with open(path, "ab") as file:
        file.write(np.ascontiguousarray(array).tobytes())
        file.flush()
        os.fsync(file.fileno())


def _cut(folder: Path, manifest: Manifest) -> None:
    for name, size in manifest.sizes().items():
        os.truncate(path_of(folder, name, manifest), size)


def _remove_others(folder: Path, manifest: Manifest) -> None:
    """Remove the files of other generations."""
    own = {path_of(folder, name, manifest).name for name in manifest.sizes()}
    for path in folder.iterdir():
        if path.name.startswith(NUMBERED) and path.name not in own:
            path.unlink(missing_ok=True)
