"""Many bundles in one file, one after the other. gzip can read it as a whole."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from navi.memory.hosts import received
from navi.memory.hosts.bundle import LARGEST_FILE, BadBundle
from navi.memory.hosts.stock import Stock
from navi.memory.hosts.sync_request import SyncRequest
from navi.memory.hosts.sync_result import SyncResult

BLOCK = 256 * 1024


def export(stock: Stock, path: Path, request: SyncRequest) -> int:
    """Write the requested sessions to one file, and return their number."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    count = 0
    try:
        offers = stock.offers(request.since, masked=request.is_masked)
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            for _, bundle in stock.bundles(offers, masked=request.is_masked):
                file.write(bundle.read_bytes())
                count += 1
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return count


def import_from(stock: Stock, path: Path) -> tuple[SyncResult, int]:
    """Receive the sessions of an exported file. Also returns their number."""
    result = SyncResult()
    count = 0
    with open(path, "rb") as file:
        for temporary in _members(file, stock):
            count += 1
            stock.receive(temporary, None, f"session {count} in {path}", result)
    return result, count


def _members(file: IO[bytes], stock: Stock) -> Iterator[Path]:
    """Each bundle in a temporary file, which the caller removes."""
    rest = file.read(BLOCK)
    while rest:
        temporary = received.temporary_file(stock.paths)
        try:
            with open(temporary, "wb") as member:
                rest = _copy_member(file, rest, member)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        yield temporary
        rest = rest or file.read(BLOCK)


def _copy_member(file: IO[bytes], block: bytes, member: IO[bytes]) -> bytes:
    """Copy up to the end of a gzip member. Returns the bytes read beyond it."""
    decompressor = zlib.decompressobj(wbits=31)
    size = 0
    while block:
        pending = block
        try:
            while pending and not decompressor.eof:
                decompressor.decompress(pending, BLOCK)
                pending = decompressor.unconsumed_tail
        except zlib.error as error:
            raise BadBundle(f"it is not an export of recall, or it is damaged: {error}") from error
        rest = decompressor.unused_data if decompressor.eof else b""
        size += len(block) - len(rest)
        if size > LARGEST_FILE:
            raise BadBundle(f"it has a session that is larger than {LARGEST_FILE >> 20} MB")
        member.write(block[: len(block) - len(rest)])
        if decompressor.eof:
            return rest
        block = file.read(BLOCK)
    return b""
