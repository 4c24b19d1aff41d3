"""Where the index and its settings are."""

from __future__ import annotations

import os

from navi.base import file_modes
from navi.domain.light_typing import NamedTuple
from navi.memory.index_errors import IndexUnusable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Places(NamedTuple):
    path: str
    """Of the database. A text: importing `pathlib` takes as long as a list of sessions."""

    @property
    def database(self) -> Path:
        return _path(self.path)

    @property
    def texts(self) -> Path:
        """The full-text folder: `recall.texts` beside `recall.duckdb`."""
        return _path(self.beside(".texts"))

    @property
    def lock(self) -> Path:
        return _path(self.beside(".lock"))

    @property
    def follower(self) -> Path:
        """Locked by every process that keeps the index up to date as files change."""
        return _path(self.beside(".follower"))

    @property
    def known_files(self) -> Path:
        """What the last run saw, for the next one to see quickly that nothing changed."""
        return _path(self.beside(".files"))

    @property
    def tags(self) -> Path:
        """A copy of people's tags, for whoever lists sessions without asking DuckDB."""
        return _path(self.beside(".tags"))

    @property
    def write_ahead_log(self) -> Path:
        return _path(self.path + ".wal")

    def beside(self, suffix: str) -> str:
        """The same path with another suffix, as `Path.with_suffix` has it."""
        folder, name = os.path.split(self.path)
        dot = name.rfind(".")
        stem = name[:dot] if 0 < dot < len(name) - 1 else name
        return os.path.join(folder, stem + suffix)

    def prepare(self) -> None:
        """The folder, there and writable; nobody else can read the index in it."""
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
        file_modes.close_to_others(self.own_files())

    def own_files(self) -> list[str]:
        """The index, and what `recall index --recreate` kept of earlier ones."""
        beside = [
            self.beside(f".{name}") for name in ("texts", "lock", "follower", "files", "tags")
        ]
        folder, name = os.path.split(self.path)
        with os.scandir(folder) as entries:
            copies = [each.path for each in entries if each.name.startswith(f"{name}.")]
        return [self.path, *beside, *copies]


def places(environment: Mapping[str, str] = os.environ) -> Places:
    """`RECALL_DB_PATH`, else recall.duckdb in `RECALL_DATA_DIR` or the user's data folder."""
    if named := environment.get("RECALL_DB_PATH"):
        return Places(_absolute(named))
    if named := environment.get("RECALL_DATA_DIR"):
        return Places(os.path.join(_absolute(named), "recall.duckdb"))
    data = environment.get("XDG_DATA_HOME") or "~/.local/share"
    return Places(os.path.join(_absolute(data), "recall", "recall.duckdb"))


def settings_files(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Where `[fts]` may stand; the first that has it wins."""
    config = _path(_absolute(environment.get("XDG_CONFIG_HOME") or "~/.config"))
    named = environment.get("NAVI_CONFIG")
    shared = _path(_absolute(named)) if named else config / "navi" / "config.toml"
    return [shared, config / "recall" / "config.toml"]


def _absolute(path: str) -> str:
    """As `Path.expanduser` and `Path.absolute` have it."""
    path = os.path.expanduser(path)
    if path.startswith("~"):
        raise RuntimeError("Could not determine home directory.")
    return os.path.join(os.getcwd(), path).rstrip("/") or "/"


def _path(text: str) -> Path:
    from pathlib import Path

    return Path(text)
