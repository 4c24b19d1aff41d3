"""The bundles that other machines sent, in a folder for each machine.

A bundle is checked in a temporary file and then renamed, so a kill leaves no partial bundle. A
session stays assigned to the machine that sent it first.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec

from navi.base.file_locks import lock_file
from navi.base.whole_file import replace_file
from navi.memory.hosts import bundle
from navi.memory.hosts.bundle import BadBundle, Head, Message
from navi.memory.hosts.host_source import ENDING
from navi.memory.hosts.this_machine import HERE, ID, Host
from navi.memory.index_paths import IndexPaths

LEFTOVER_SECONDS = 24 * 3600.0
PAUSE_SECONDS = 0.005


class HostEntry(msgspec.Struct, frozen=True):
    """Another machine, as recorded on this one."""

    id: str
    name: str
    """Its name here: its own name, unless another machine has the same one."""
    path_map: list[tuple[str, str]] = []


class Received(NamedTuple):
    path: Path
    head: Head


class Reception(StrEnum):
    STORED = "stored"
    ALREADY_HERE = "already here"


def folder_of(paths: IndexPaths, host_id: str) -> Path:
    return paths.received / host_id


def host_entry(paths: IndexPaths, host_id: str) -> HostEntry | None:
    try:
        data = (folder_of(paths, host_id) / "host.json").read_bytes()
        return msgspec.json.decode(data, type=HostEntry)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def hosts(paths: IndexPaths) -> list[HostEntry]:
    """The machines whose sessions are here, by name."""
    try:
        ids = [name for name in os.listdir(paths.received) if ID.fullmatch(name)]
    except FileNotFoundError:
        return []
    entries = (host_entry(paths, host_id) for host_id in ids)
    return sorted((entry for entry in entries if entry is not None), key=lambda each: each.name)


def session_count(paths: IndexPaths, host_id: str) -> int:
    return sum(1 for _ in _bundles(folder_of(paths, host_id)))


def sessions(paths: IndexPaths) -> tuple[dict[str, Received], list[str]]:
    """The received bundles by session id, and one problem for each file that can't be read."""
    bundles: dict[str, Received] = {}
    problems = []
    for host in hosts(paths):
        for path in _bundles(folder_of(paths, host.id)):
            try:
                head = bundle.read_head(path)
            except (BadBundle, OSError) as error:
                problems.append(f"{path}: {error}")
                continue
            bundles[head.id] = Received(path, head)
    return bundles, problems


def put_away_ids(paths: IndexPaths) -> set[str]:
    return {path.name.removesuffix(ENDING) for path in _bundles(paths.put_away)}


def receive(
    paths: IndexPaths, temporary: Path, own: Host, own_ids: set[str], key: tuple[str, str] | None
) -> Reception:
    """Check the bundle in `temporary` and put it in its place. Raises `BadBundle` if it is not
    acceptable. `temporary` is removed in any case.

    `key` has the ids of the machine and the session that the peer announced.
    """
    try:
        head = bundle.check(temporary)
        if key is not None and (head.host.id, head.id) != key:
            raise BadBundle("it is not the session that its name says")
        if head.id in own_ids:
            return Reception.ALREADY_HERE
        if head.host.id == own.id:
            raise BadBundle("it claims to be from this machine, which does not have it")
        with _locked(paths):
            return _place(paths, temporary, head, own)
    finally:
        temporary.unlink(missing_ok=True)


def temporary_file(paths: IndexPaths) -> Path:
    """A new path on the file system of the received bundles."""
    folder = paths.received
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / f".{os.getpid()}-{os.urandom(4).hex()}.tmp"


def remove_leftovers(folder: Path, now: datetime) -> None:
    """Remove temporary files of processes that were killed, once no process can still need them."""
    for path in folder.glob(".*.tmp"):
        if now.timestamp() - path.stat().st_mtime > LEFTOVER_SECONDS:
            path.unlink(missing_ok=True)


def set_path_map(paths: IndexPaths, host_id: str, path_map: list[tuple[str, str]]) -> None:
    """Set the path map of another machine. If it changes, its sessions are read again."""
    with _locked(paths):
        entry = host_entry(paths, host_id)
        if entry is not None and entry.path_map != path_map:
            changed = msgspec.structs.replace(entry, path_map=path_map)
            _save_entry(paths, changed)


@contextmanager
def _locked(paths: IndexPaths) -> Iterator[None]:
    """Locks out other processes on this machine; each holds the lock only briefly."""
    path = paths.hosts / "lock"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = None
    while descriptor is None:
        with suppress(BlockingIOError):
            descriptor = lock_file(path)
        if descriptor is None:
            time.sleep(PAUSE_SECONDS)
    try:
        yield
    finally:
        os.close(descriptor)


def _place(paths: IndexPaths, temporary: Path, head: Head, own: Host) -> Reception:
    folder = folder_of(paths, head.host.id)
    path = folder / f"{head.id}{ENDING}"
    replaced = None
    for other in hosts(paths):
        existing = folder_of(paths, other.id) / path.name
        if existing.exists() and _has_more(existing, temporary, head):
            return Reception.ALREADY_HERE
        if existing.exists() and other.id != head.host.id:
            replaced = existing
    _register(paths, head.host, own)
    with open(temporary, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(temporary, path)
    if replaced is not None:
        replaced.unlink()
    return Reception.STORED


def _has_more(existing: Path, incoming: Path, head: Head) -> bool:
    """Whether the existing bundle of the session is at least as new as the incoming one.

    Another machine may have the same session, if its folders were moved or copied there. If the
    messages conflict, the first machine's session is kept.
    """
    try:
        held = bundle.read_head(existing)
        if held.host.id == head.host.id:
            return head.rank <= held.rank
        before, after = _outline(existing), _outline(incoming)
    except BadBundle:
        return False  # the existing one is damaged
    if after[: len(before)] == before and len(after) > len(before):
        return False
    if before[: len(after)] == after:
        return True
    raise BadBundle(f"the machine {held.host.name} has a different session with the same id")


def _outline(path: Path) -> list[tuple[int, str, int | None]]:
    """The number, role and time of each message, which masking does not change."""
    rows = bundle.read_rows(path)
    return [(row.idx, row.role, row.at) for row in rows if isinstance(row, Message)]


def _register(paths: IndexPaths, host: Host, own: Host) -> None:
    if host_entry(paths, host.id) is None:
        names = {own.name, HERE, *(each.name for each in hosts(paths))}
        name = host.name if host.name not in names else f"{host.name[:58]}-{host.id[:4]}"
        _save_entry(paths, HostEntry(host.id, name))


def _save_entry(paths: IndexPaths, entry: HostEntry) -> None:
    path = folder_of(paths, entry.id) / "host.json"
    replace_file(path, msgspec.json.encode(entry))


def _bundles(folder: Path) -> Iterator[Path]:
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return
    for name in names:
        if name.endswith(ENDING) and ID.fullmatch(name.removesuffix(ENDING)):
            yield folder / name
