"""This machine's id and name, as other machines know it."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import msgspec

from navi.base.errors import NaviError
from navi.base.ids import new_id
from navi.base.whole_file import write_through
from navi.memory.index_paths import IndexPaths

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
ID = re.compile(r"[0-9a-f]{16}")
HERE = "here"
"""Stands for this machine's name in a filter."""


class Host(msgspec.Struct, frozen=True):
    """A machine. Its id never changes; its name is for people."""

    id: str
    name: str

    @property
    def is_valid(self) -> bool:
        return ID.fullmatch(self.id) is not None and NAME.fullmatch(self.name) is not None


class NoIdentity(NaviError):
    kind = "no_identity"

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"can't read this machine's id and name in {path}",
            hint="restore the file; without it, other machines take this one for a new machine",
        )


def this_machine(paths: IndexPaths) -> Host:
    """This machine, which gets an id the first time."""
    return existing(paths) or _create(paths)


def existing(paths: IndexPaths) -> Host | None:
    """This machine; None if it never exchanged sessions with another one."""
    path = _path(paths)
    try:
        host = msgspec.json.decode(path.read_bytes(), type=Host)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise NoIdentity(path) from error
    if not host.is_valid:
        raise NoIdentity(path)
    return host


def _path(paths: IndexPaths) -> Path:
    return paths.hosts / "this-machine.json"


def _create(paths: IndexPaths) -> Host:
    name = socket.gethostname().partition(".")[0]
    host = Host(new_id(), name if NAME.fullmatch(name) else "machine")
    path = _path(paths)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{host.id}.tmp")
    write_through(temporary, msgspec.json.encode(host))
    try:
        # Unlike a rename, this never replaces the id that another process has just made.
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        temporary.unlink()
    return existing(paths) or host
