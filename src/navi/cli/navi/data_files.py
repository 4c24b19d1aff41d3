"""Navi's data on this machine, for `navi uninstall`.

Lists Navi's own files by name, because the folders `NAVI_HOME` and `RECALL_DATA_DIR` may also hold
other files.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from navi.base.platform import all_open_files
from navi.cli.navi.browser import PAGE_FILE
from navi.cli.navi.connection_offer import ANSWERS_FILE
from navi.cli.navi.listener import PORT_FILE
from navi.cli.navi.service.environment import environment_file
from navi.live.runtime import server_files
from navi.memory.index_paths import index_paths, settings_files

FILES_IN_HOME = ("token", "address", PORT_FILE, "runs", "workspace", PAGE_FILE, ANSWERS_FILE)
PERMISSION_RECEIPTS = "permissions.json"
"""Records the rules that `recall stats bash --apply` added; --undo needs it."""


@dataclass(frozen=True, slots=True)
class DataFiles:
    """Files of Navi in one folder."""

    folder: Path
    content: str
    """A description of the content, for people."""
    paths: Sequence[Path]

    def size(self) -> int:
        return sum(_size(path) for path in self.paths)

    def remove(self) -> None:
        """Delete the files, and the folder unless it holds anything else."""
        for path in self.paths:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


def data_files() -> list[DataFiles]:
    """All of Navi's files that exist on this machine."""
    home, index = server_files.home(), index_paths().database
    variables = environment_file()
    groups = [
        DataFiles(
            home,
            "sessions, the access token, the agents' workspace",
            [home / name for name in (*store_file_names("navi.sqlite3"), *FILES_IN_HOME)],
        ),
        DataFiles(
            index.parent,
            "the index of the memory, and kept session files",
            [
                *sorted(index.parent.glob(f"{escape(index.stem)}.*")),
                index.parent / PERMISSION_RECEIPTS,
            ],
        ),
        *(DataFiles(path.parent, f"settings ({path.name})", [path]) for path in settings_files()),
        DataFiles(variables.parent, f"the service's variables ({variables.name})", [variables]),
    ]
    store = server_files.store_file(server_files.database_url())
    if store is not None and store.parent != home:
        paths = [store.with_name(name) for name in store_file_names(store.name)]
        groups.append(DataFiles(store.parent, f"sessions ({store.name})", paths))
    existing = [
        DataFiles(each.folder, each.content, [path for path in each.paths if path.exists()])
        for each in groups
    ]
    return [each for each in existing if each.paths]


def store_file_names(name: str) -> list[str]:
    """The names of the SQLite file `name` and of the files that SQLite keeps next to it."""
    return [f"{name}{suffix}" for suffix in server_files.STORE_SUFFIXES]


def processes_using(files: Iterable[DataFiles]) -> list[int]:
    """The ids of processes that have any of the files open."""
    prefixes = tuple(str(path.resolve()) for each in files for path in each.paths)
    if not prefixes:
        return []
    pids = {pid for pid, file in all_open_files() if file.startswith(prefixes)}
    return sorted(pids - {os.getpid()})


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.lstat().st_size for file in files if not file.is_dir())
