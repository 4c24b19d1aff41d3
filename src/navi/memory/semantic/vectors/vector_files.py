"""The files of the vectors: `recall.vectors` beside the full-text folder.

`vectors.json` has the model's name and the number of rows, and is replaced as a whole. The other
files are only appended to, so rows beyond that number were left by a killed process, and are
ignored. All files can be made again from DuckDB.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

FORMAT = 1
MANIFEST = "vectors.json"
PLACE = np.dtype(
    [
        ("session", "<u8"),
        ("at", "<i8"),  # microseconds since 1970; NO_TIME if unknown
        ("digest", "<u8"),  # of the passage's text
        ("scale", "<f4"),  # what to multiply the row's integers by
        ("agent", "<u4"),
        ("idx", "<u4"),  # of the message
        ("part", "<u2"),  # the passage's number in the message
        ("role", "<u2"),  # its number in `full_text.ROLES`
    ]
)
SESSION = np.dtype([("session", "<u8"), ("stamp", "<u8")])
"""A session whose passages all have vectors, and its stamp (`backfill`) at that time."""
NO_TIME = np.iinfo(np.int64).min

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Manifest:
    model: str
    dimensions: int
    generation: int = 0
    """Part of the other files' names; a new one when they are written anew."""
    rows: int = 0
    sessions: int = 0
    dead: int = 0
    pending: int = 0
    """Sessions that lacked vectors when these were last written. `backfill` counts them again."""

    def sizes(self) -> dict[str, int]:
        """The size of each file in bytes, by its name without the generation."""
        return {
            "rows": self.rows * self.dimensions,
            "bits": self.rows * bit_bytes(self.dimensions),
            "places": self.rows * PLACE.itemsize,
            "sessions": self.sessions * SESSION.itemsize,
            "dead": self.dead * 4,
        }


@dataclass(frozen=True)
class Vectors:
    """The vectors as they were when they were opened."""

    manifest: Manifest
    rows: Array
    """A row of 8-bit integers for each passage."""
    bits: Array
    """The signs of each row, as 64-bit words."""
    places: Array
    """For each row, a `PLACE`."""
    sessions: Array
    dead: Array
    """Numbers of rows whose passage is gone or was replaced."""

    @cached_property
    def is_dead(self) -> Array:
        flags = np.zeros(len(self.places), bool)
        flags[self.dead] = True
        return flags

    @property
    def live(self) -> int:
        return len(self.places) - len(self.dead)


def bit_bytes(dimensions: int) -> int:
    """The bytes for one bit of each dimension, in words of 64 bits."""
    return -(-dimensions // 64) * 8


def read_manifest(folder: Path) -> Manifest | None:
    """None if there are no vectors, or they are in another format."""
    try:
        values = json.loads((folder / MANIFEST).read_bytes())
        if values.pop("format") != FORMAT:
            return None
        return Manifest(**values)
    except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError):
        return None


def save_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace it as a whole, on disk before this returns."""
    path, new = folder / MANIFEST, folder / f"{MANIFEST}.new"
    with open(new, "w") as file:
        json.dump({"format": FORMAT, **asdict(manifest)}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)


def open_vectors(folder: Path) -> Vectors | None:
    """None if there are none, or if their files don't match `vectors.json`."""
    manifest = read_manifest(folder)
    for _ in range(3):
        if manifest is None:
            return None
        try:
            return _map(folder, manifest)
        except (OSError, ValueError):
            # Another process may have replaced the files in between.
            again = read_manifest(folder)
            if again == manifest:
                return None
            manifest = again
    return None


def path_of(folder: Path, name: str, manifest: Manifest) -> Path:
    return folder / f"{name}.{manifest.generation}"


def empty(model: str, dimensions: int, after: Manifest | None) -> Manifest:
    return Manifest(model, dimensions, 0 if after is None else after.generation + 1)


def _map(folder: Path, manifest: Manifest) -> Vectors:
    rows, dimensions = manifest.rows, manifest.dimensions
    words = bit_bytes(dimensions) // 8
    return Vectors(
        manifest,
        _mapped(path_of(folder, "rows", manifest), np.dtype("i1"), (rows, dimensions)),
        _mapped(path_of(folder, "bits", manifest), np.dtype("<u8"), (rows, words)),
        _mapped(path_of(folder, "places", manifest), PLACE, (rows,)),
        _mapped(path_of(folder, "sessions", manifest), SESSION, (manifest.sessions,)),
        _mapped(path_of(folder, "dead", manifest), np.dtype("<u4"), (manifest.dead,)),
    )


def _mapped(path: Path, kind: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    if 0 in shape:
        return np.zeros(shape, kind)  # an empty file can't be mapped
    return np.memmap(path, kind, "r", shape=shape)
