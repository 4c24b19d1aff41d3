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

from navi.cli.navi.browser import PAGE_FILE
from navi.live.runtime import server_files
from navi.memory.index_paths import places as index_places
from navi.memory.index_paths import settings_files

IN_HOME = ("token", "runs", "workspace", PAGE_FILE)
PERMISSIONS = "permissions.json"
"""The receipts that `recall stats bash --undo` needs."""


@dataclass(frozen=True, slots=True)
class KeptFiles:
    folder: Path
    content: str
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


def kept_files() -> list[KeptFiles]:
    home, index = server_files.home(), index_places().database
    kinds = [
        KeptFiles(
            home,
            "sessions, the access token, the agents' workspace",
            [home / name for name in (*store_names("navi.sqlite3"), *IN_HOME)],
        ),
        KeptFiles(
            index.parent,
            "the index of the memory",
            [*sorted(index.parent.glob(f"{escape(index.stem)}.*")), index.parent / PERMISSIONS],
        ),
        *(KeptFiles(path.parent, f"settings ({path.name})", [path]) for path in settings_files()),
    ]
    store = server_files.store_file(server_files.database_url())
    if store is not None and store.parent != home:
        paths = [store.with_name(name) for name in store_names(store.name)]
        kinds.append(KeptFiles(store.parent, f"sessions ({store.name})", paths))
    existing = [
        KeptFiles(each.folder, each.content, [path for path in each.paths if path.exists()])
        for each in kinds
    ]
    return [each for each in existing if each.paths]


def store_names(name: str) -> list[str]:
    """The names of an SQLite store's files."""
    return [f"{name}{suffix}" for suffix in server_files.STORE_SUFFIXES]


def processes_using(files: Iterable[KeptFiles]) -> list[int]:
    """The ids of processes that have any of the files open; empty on systems without /proc."""
    used = tuple(str(path.resolve()) for each in files for path in each.paths)
    pids = set()
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if os.readlink(link).startswith(used):
                pids.add(int(link.parts[2]))
    return sorted(pids - {os.getpid()})


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.lstat().st_size for file in files if not file.is_dir())
