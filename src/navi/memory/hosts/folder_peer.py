"""Syncs through a folder that several machines share, such as a mounted or synchronised one.

Each machine writes only below the folder with its own id: WRITER/HOST/SESSION.REVISION.jsonl.gz.
Names identify the session and its revision, so a listing is enough, and files never change.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from navi.base.errors import NaviError
from navi.memory.hosts import received
from navi.memory.hosts.bundle import LARGEST_FILE
from navi.memory.hosts.host_source import ENDING
from navi.memory.hosts.stock import Offer, Stock
from navi.memory.hosts.sync_request import SyncRequest
from navi.memory.hosts.sync_result import SyncResult
from navi.memory.hosts.this_machine import ID, Host

_NAME = re.compile(r"([0-9a-f]{16})\.([0-9]{1,16})(\.masked)?" + re.escape(ENDING))


class FolderUnusable(NaviError):
    kind = "folder_unusable"


class _File(NamedTuple):
    path: Path
    offer: Offer


def sync(folder: Path, stock: Stock, request: SyncRequest) -> SyncResult:
    result = SyncResult()
    try:
        files = list(_files(folder))
        result.host_ids = {file.offer.host.id for file in files}
        if request.sends:
            _send(folder, files, stock, request, result)
        if request.receives:
            _receive(files, stock, request, result)
    except OSError as error:
        raise FolderUnusable(
            f"can't sync with {folder}: {error.strerror or error}",
            hint="run the same command again; it continues where it stopped",
        ) from error
    return result


def _send(
    folder: Path, files: list[_File], stock: Stock, request: SyncRequest, result: SyncResult
) -> None:
    own_folder = folder / stock.host.id
    present: dict[tuple[str, str], list[_File]] = {}
    for file in files:
        present.setdefault(file.offer.key, []).append(file)
    to_send = [
        offer
        for offer in stock.offers(request.since, masked=request.is_masked)
        if not _is_present(offer, present.get(offer.key, []), own_folder, stock)
    ]
    result.sent = len(to_send)
    if request.is_dry_run:
        return
    result.sent = 0
    for offer, path in stock.bundles(to_send, masked=request.is_masked):
        target = own_folder / offer.host.id / _name(offer)
        for parent in (own_folder, target.parent):
            parent.mkdir(mode=0o700, exist_ok=True)
        _copy(path, target)
        for earlier in present.get(offer.key, []):
            if earlier.path.is_relative_to(own_folder) and earlier.path != target:
                earlier.path.unlink(missing_ok=True)
        result.sent += 1


def _is_present(offer: Offer, files: list[_File], own_folder: Path, stock: Stock) -> bool:
    if offer.host == stock.host:
        # The same rank, not a higher one: an unmasked file is replaced if masking is now on.
        return any(
            file.path.is_relative_to(own_folder) and file.offer.rank == offer.rank for file in files
        )
    return any(file.offer.rank >= offer.rank for file in files)


def _receive(files: list[_File], stock: Stock, request: SyncRequest, result: SyncResult) -> None:
    best: dict[tuple[str, str], _File] = {}
    for file in files:
        held = best.get(file.offer.key)
        if held is None or file.offer.rank > held.offer.rank:
            best[file.offer.key] = file
    wanted = stock.wants(file.offer for file in best.values())
    result.received = len(wanted)
    if request.is_dry_run:
        return
    result.received = 0
    for offer in wanted:
        path = best[offer.key].path
        temporary = received.temporary_file(stock.paths)
        try:
            if path.stat().st_size > LARGEST_FILE:
                result.refused.append(f"{path}: it is larger than {LARGEST_FILE >> 20} MB")
                continue
            shutil.copyfile(path, temporary)
        except FileNotFoundError:
            continue  # its machine has just replaced it
        except shutil.SpecialFileError as error:
            result.refused.append(str(error))
            continue
        stock.receive(temporary, offer.key, str(path), result)


def _files(folder: Path) -> Iterator[_File]:
    """The files of all machines, this one included."""
    for writer in _ids_in(folder):
        for host_id in _ids_in(folder / writer):
            for name in os.listdir(folder / writer / host_id):
                if match := _NAME.fullmatch(name):
                    # Other names are unfinished copies.
                    offer = Offer(Host(host_id, ""), match[1], int(match[2]), bool(match[3]))
                    yield _File(folder / writer / host_id / name, offer)


def _ids_in(folder: Path) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(
            entry.name for entry in entries if ID.fullmatch(entry.name) and entry.is_dir()
        )


def _name(offer: Offer) -> str:
    return f"{offer.id}.{offer.revision}{'.masked' if offer.is_masked else ''}{ENDING}"


def _copy(path: Path, target: Path) -> None:
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    shutil.copyfile(path, temporary)
    with open(temporary, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(temporary, target)
