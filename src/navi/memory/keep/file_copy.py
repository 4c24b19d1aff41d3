"""One compressed copy of a session file.

A copy is a gzip file. When the original has grown, its new end is compressed and appended, which
gzip allows; when it was rewritten, it is copied again.
"""

from __future__ import annotations

import gzip
import os
import secrets
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from msgspec.structs import replace

from navi.memory.index_errors import IndexUnusable
from navi.memory.keep.kept_files import KeptFile

BLOCK_BYTES = 1024 * 1024
COMPRESSION = 6
MOST_PARTS = 64
"""After this many parts the copy is rewritten as one: small parts compress badly."""


def copy_file(
    folder: Path, session_id: str, source: str, path: str, location: str, before: KeptFile | None
) -> KeptFile:
    """Copy the file at `location`. If it has only grown since `before`, its new end is appended.

    The caller has to flush it to the disk. Raises OSError if something can't be read or written.
    """
    if before is not None and not is_whole(folder, before):
        before = None
    with open(location, "rb") as original:
        status = os.fstat(original.fileno())
        if before is not None and (before.mtime, before.size) == (status.st_mtime, status.st_size):
            return before
        digest = sha256()
        start, name, parts = 0, f"{session_id}-{secrets.token_hex(4)}.jsonl.gz", 0
        if before is not None and before.parts < MOST_PARTS and before.size <= status.st_size:
            for block in _blocks(original, before.size):
                digest.update(block)
            if digest.hexdigest() == before.digest:
                if before.size == status.st_size:
                    return replace(before, mtime=status.st_mtime)
                start, name, parts = before.size, before.copy, before.parts
            else:
                digest = sha256()
                original.seek(0)
        target = folder / name
        with open(os.open(target, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as copy:
            copy.truncate(before.copy_size if before is not None and start else 0)
            copy.seek(0, os.SEEK_END)
            with gzip.GzipFile("", "wb", COMPRESSION, copy, mtime=0) as compressed:
                size = start
                for block in _blocks(original, status.st_size - start):
                    digest.update(block)
                    compressed.write(block)
                    size += len(block)
            copy_size = copy.tell()
    return KeptFile(
        source, path, status.st_mtime, size, digest.hexdigest(), name, copy_size, parts + 1
    )


def content(folder: Path, kept: KeptFile) -> Iterator[bytes]:
    """The kept file, block by block. Raises `IndexUnusable` if the copy is damaged."""
    digest = sha256()
    try:
        with gzip.open(folder / kept.copy, "rb") as copy:
            for block in _blocks(copy, kept.size):  # type: ignore[arg-type]
                digest.update(block)
                yield block
    except (OSError, EOFError) as error:
        raise _damaged(folder, kept, str(error)) from error
    if digest.hexdigest() != kept.digest:
        raise _damaged(folder, kept, "its content is not that of the kept file")


def is_whole(folder: Path, kept: KeptFile) -> bool:
    """Whether the copy exists in its full size."""
    try:
        return (folder / kept.copy).stat().st_size >= kept.copy_size
    except OSError:
        return False


def digest_of(path: str) -> str:
    with open(path, "rb") as file:
        digest = sha256()
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def _blocks(file: BinaryIO, size: int) -> Iterator[bytes]:
    """The next `size` bytes, or as many as there are."""
    while size > 0 and (block := file.read(min(size, BLOCK_BYTES))):
        size -= len(block)
        yield block


def _damaged(folder: Path, kept: KeptFile, reason: str) -> IndexUnusable:
    return IndexUnusable(
        f"the kept copy {folder / kept.copy} is damaged: {reason}",
        hint="`recall show` still has what was indexed of the session",
    )
