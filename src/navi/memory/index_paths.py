"""Where the index and its settings are."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from navi.base import file_modes
from navi.memory.index_errors import IndexUnusable


class IndexPaths(NamedTuple):
    """The files of one index; all are named after its DuckDB file."""

    database: Path

    @property
    def texts(self) -> Path:
        """The full-text folder: `recall.texts` beside `recall.duckdb`."""
        return self.database.with_suffix(".texts")

    @property
    def lock(self) -> Path:
        return self.database.with_suffix(".lock")

    @property
    def follower(self) -> Path:
        """Locked by every process that follows the files and keeps the index up to date."""
        return self.database.with_suffix(".follower")

    @property
    def file_list(self) -> Path:
        """The session files as the last pass saw them, for a quick comparison in the next."""
        return self.database.with_suffix(".files")

    @property
    def tags(self) -> Path:
        """A copy of the tags, so that listing sessions does not need DuckDB."""
        return self.database.with_suffix(".tags")

    @property
    def kept(self) -> Path:
        """The folder with copies of session files that their agents may delete."""
        return self.database.with_suffix(".kept")

    @property
    def hosts(self) -> Path:
        """The folder with other machines' sessions, and with the settings for each machine."""
        return self.database.with_suffix(".hosts")

    @property
    def received(self) -> Path:
        """The bundles of other machines' sessions, in a folder for each machine."""
        return self.hosts / "received"

    @property
    def put_away(self) -> Path:
        """Received bundles that are not read, because this machine has the session's own file."""
        return self.hosts / "superseded"

    @property
    def vectors(self) -> Path:
        """The folder of the vectors, for search by meaning."""
        return self.database.with_suffix(".vectors")

    @property
    def models(self) -> Path:
        """The folder of the installed model."""
        return self.database.parent / "models"

    @property
    def write_ahead_log(self) -> Path:
        return self.database.with_name(f"{self.database.name}.wal")

    def prepare(self) -> None:
        """Create the folder if needed, check that it is writable, and make its files private."""
        folder = self.database.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise IndexUnusable(
                f"can't create the folder {folder}: {error.strerror}",
                hint="make it writable, or set RECALL_DATA_DIR to another one",
            ) from error
        if not os.access(folder, os.W_OK | os.X_OK):
            raise IndexUnusable(
                f"can't write to {folder}",
                hint="make it writable, or set RECALL_DATA_DIR to another one",
            )
        file_modes.close_to_others(self.own_files())

    def own_files(self) -> list[str]:
        """The files of this index, and of earlier ones that `recall index --recreate` kept."""
        companions = (
            self.texts,
            self.lock,
            self.follower,
            self.file_list,
            self.tags,
            self.kept,
            self.hosts,
            self.vectors,
        )
        log_and_backups = self.database.parent.glob(f"{glob.escape(self.database.name)}.*")
        return [str(path) for path in (self.database, *companions, *log_and_backups)]


def index_paths(environment: Mapping[str, str] = os.environ) -> IndexPaths:
    """`RECALL_DB_PATH`, else recall.duckdb in `RECALL_DATA_DIR` or in `$XDG_DATA_HOME/recall`."""
    if path := environment.get("RECALL_DB_PATH"):
        return IndexPaths(_absolute(path))
    if folder := environment.get("RECALL_DATA_DIR"):
        return IndexPaths(_absolute(folder) / "recall.duckdb")
    data = environment.get("XDG_DATA_HOME") or "~/.local/share"
    return IndexPaths(_absolute(data) / "recall" / "recall.duckdb")


def settings_files(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """The settings files. The first one that contains a setting wins."""
    config = _absolute(environment.get("XDG_CONFIG_HOME") or "~/.config")
    path = environment.get("NAVI_CONFIG")
    shared = _absolute(path) if path else config / "navi" / "config.toml"
    return [shared, config / "recall" / "config.toml"]


def _absolute(path: str) -> Path:
    return Path(path).expanduser().absolute()
