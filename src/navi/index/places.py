"""Where the index and its settings are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from navi.index.errors import IndexUnusable


class Places(NamedTuple):
    database: Path

    @property
    def texts(self) -> Path:
        """The full-text folder: `recall.texts` beside `recall.duckdb`."""
        return self.database.with_suffix(".texts")

    @property
    def lock(self) -> Path:
        return self.database.with_suffix(".lock")

    @property
    def known_files(self) -> Path:
        """What the last run saw, for the next one to see quickly that nothing changed."""
        return self.database.with_suffix(".files")

    @property
    def tags(self) -> Path:
        """A copy of people's tags, for whoever lists sessions without asking DuckDB."""
        return self.database.with_suffix(".tags")

    @property
    def write_ahead_log(self) -> Path:
        return self.database.with_name(self.database.name + ".wal")

    def prepare(self) -> None:
        """The folder, there and writable; nobody else may look into it."""
        folder = self.database.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise IndexUnusable(
                f"can't make the folder {folder}: {error.strerror}",
                hint="make it writable, or set RECALL_DATA_DIR to another one",
            ) from error
        if not os.access(folder, os.W_OK | os.X_OK):
            raise IndexUnusable(
                f"can't write to {folder}",
                hint="make it writable, or set RECALL_DATA_DIR to another one",
            )


def places(environment: Mapping[str, str] = os.environ) -> Places:
    """`RECALL_DB_PATH`, else recall.duckdb in `RECALL_DATA_DIR` or the user's data folder."""
    if named := environment.get("RECALL_DB_PATH"):
        return Places(Path(named).expanduser().absolute())
    if named := environment.get("RECALL_DATA_DIR"):
        return Places(Path(named).expanduser().absolute() / "recall.duckdb")
    data = environment.get("XDG_DATA_HOME") or "~/.local/share"
    return Places(Path(data).expanduser().absolute() / "recall" / "recall.duckdb")


def settings_files(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Where `[fts]` may stand; the first that has it wins."""
    config = Path(environment.get("XDG_CONFIG_HOME") or "~/.config").expanduser().absolute()
    named = environment.get("NAVI_CONFIG")
    shared = Path(named).expanduser().absolute() if named else config / "navi" / "config.toml"
    return [shared, config / "recall" / "config.toml"]
