"""Reads, lists, writes and edits files, inside the session's folder only."""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from navi.base.errors import InvalidInput, TooLarge
from navi.live.model.tool import ToolContext, ToolResult
from navi.live.tools.argument_types import Arguments, NonBlank, require
from navi.live.tools.files.decoded_text import (
    SAMPLE_BYTES,
    decode,
    describe_binary,
    is_binary,
    one_line,
)
from navi.live.tools.files.folder import (
    Entry,
    entry_at,
    explained_errors,
    kind,
    locate,
    open_plain,
    opened_folder,
    replace,
)
from navi.live.tools.files.text_edit import replace_text

# Agents call tools in parallel. Without this lock, one of two edits of a file could be lost.
_change_lock = threading.Lock()


class FilesystemArguments(Arguments):
    action: Literal["read", "list", "write", "edit"]
    path: NonBlank | None = Field(
        None,
        description="relative to the session's folder, or absolute but inside it; `list` without "
        "a path lists the session's folder",
    )
    offset: int = Field(1, ge=1, description="read, list: the first line or entry, counted from 1")
    limit: int | None = Field(
        None, ge=1, description="read, list: the maximum number of lines or entries"
    )
    content: str | None = Field(None, description="write: the whole new content")
    old_text: str | None = Field(None, description="edit: the text to replace")
    new_text: str | None = Field(None, description="edit: the replacement")
    replace_all: bool = Field(False, description="edit: replace every occurrence")


@dataclass(frozen=True, slots=True)
class Filesystem:
    """A change happens completely or not at all, even if the call is cancelled, and never after
    the call has ended."""

    read_limit_bytes: int = 30_000
    list_limit_entries: int = 500
    # An edit holds several copies of the file in memory.
    edit_limit_bytes: int = 20_000_000

    name: ClassVar[str] = "filesystem"
    description: ClassVar[str] = (
        "Works with files in the session's folder. Actions: `read` a file (from line `offset`, at "
        "most `limit` lines); `list` a folder; `write` a file with `content`, which replaces any "
        "existing file and creates missing folders; `edit` a file: replace `old_text`, which must "
        "match exactly and occur only once, with `new_text` (every occurrence with `replace_all`)."
    )
    arguments: ClassVar[type[FilesystemArguments]] = FilesystemArguments

    async def run(self, context: ToolContext, arguments: FilesystemArguments) -> ToolResult:
        action = arguments.action
        path = require("path", arguments.path or ("." if action == "list" else None))
        work = partial(
            _run_inside,
            context.cwd,
            path,
            self._action(arguments),
            makes_folders=action == "write",
        )
        if action in ("read", "list"):
            return ToolResult(await asyncio.to_thread(work))
        return ToolResult(await _run_to_completion(work))

    def _action(self, arguments: FilesystemArguments) -> Callable[[Entry], str]:
        """The action as a function. Missing arguments are refused before any file is touched."""
        match arguments.action:
            case "write":
                return partial(_write, require("content", arguments.content).encode())
            case "edit":
                old = require("old_text", arguments.old_text).encode()
                new = require("new_text", arguments.new_text).encode()
                return partial(self._edit, old, new, arguments.replace_all)
            case "read":
                return partial(self._read, arguments.offset, arguments.limit)
            case "list":
                return partial(self._list, arguments.offset, arguments.limit)

    def _read(self, first: int, count: int | None, entry: Entry) -> str:
        with open_plain(entry) as file:
            sample = file.read(SAMPLE_BYTES)
            if not sample:
                return "(the file is empty)"
            if is_binary(sample):
                size = os.fstat(file.fileno()).st_size
                return f"(a binary file of {size:,} bytes, not shown; {describe_binary(sample)})"
            file.seek(0)
            skipped = _skip_lines(file, first - 1)
            if not file.peek(1):
                raise InvalidInput(f"the file ends at line {skipped:,}", hint="lower the offset")
            return self._read_lines(file, first, count)

    def _read_lines(self, file: BufferedReader, first: int, count: int | None) -> str:
        size, start = os.fstat(file.fileno()).st_size, file.tell()
        data, line, cut_note = b"", first, ""
        while count is None or line < first + count:
            piece = file.readline(self.read_limit_bytes + 1)
            if not piece:
                break
            if len(data) + len(piece) > self.read_limit_bytes:
                if not data:  # not even one line fits, and no offset can reach the rest of it
                    data, line = piece[: self.read_limit_bytes], line + 1
                    cut_note = f"line {first} is cut; "
                break
            data, line = data + piece, line + 1
        file.seek(start + len(data))
        if not file.read(1):
            return decode(data)
        left = f"{max(1, size - start - len(data)):,} of {size:,} bytes"
        return (
            decode(data, is_whole=False)
            + f"\n[{cut_note}{left} are left: read on with offset={line}]"
        )

    def _list(self, first: int, count: int | None, entry: Entry) -> str:
        limit = min(count or self.list_limit_entries, self.list_limit_entries)
        with opened_folder(entry.folder, entry.name) as folder:
            names = sorted(os.listdir(folder))
            page = names[first - 1 : first - 1 + limit]
            lines = [_describe_entry(folder, name) for name in page]
        if not page:
            last = f"(the last entry is number {len(names):,})"
            return last if names else "(the folder is empty)"
        left = len(names) - (first - 1 + len(page))
        if left:
            lines.append(
                f"[{left:,} of {len(names):,} entries are left: "
                f"read on with offset={first + len(page)}]"
            )
        return "\n".join(lines)

    def _edit(self, old: bytes, new: bytes, replace_all: bool, entry: Entry) -> str:
        with open_plain(entry) as file:
            data = file.read(self.edit_limit_bytes + 1)
        if len(data) > self.edit_limit_bytes:
            raise TooLarge(
                f"the file has more than {self.edit_limit_bytes:,} bytes",
                hint="change it with a command in the terminal",
            )
        changed, times = replace_text(data, old, new, replace_all=replace_all)
        replace(entry, changed)
        return f"replaced {times} time(s) in {one_line(str(entry.path))}"


def _run_inside(
    folder: Path, path: str, work: Callable[[Entry], str], *, makes_folders: bool
) -> str:
    with explained_errors(path):
        with entry_at(locate(folder, path), makes_folders=makes_folders) as entry:
            return work(entry)


async def _run_to_completion(work: Callable[[], str]) -> str:
    """Run `work` in a thread. A thread can't be stopped halfway, so a cancelled call waits for it:
    no file may change after the call has ended."""

    def exclusive() -> str:
        with _change_lock:
            return work()

    task = asyncio.ensure_future(asyncio.to_thread(exclusive))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.gather(task, return_exceptions=True)
        raise


def _write(content: bytes, entry: Entry) -> str:
    replace(entry, content)
    return f"wrote {len(content):,} bytes to {one_line(str(entry.path))}"


def _skip_lines(file: BufferedReader, lines: int) -> int:
    """Skip up to `lines` lines and return how many there were.

    Reads in pieces, because one line can fill a huge file.
    """
    skipped, is_inside_line = 0, False
    while skipped < lines:
        piece = file.readline(1 << 16)
        if not piece:
            return skipped + is_inside_line
        is_inside_line = not piece.endswith(b"\n")
        skipped += not is_inside_line
    return skipped


def _describe_entry(folder: int, file_name: str) -> str:
    name = one_line(decode(os.fsencode(file_name)))
    try:
        status = os.stat(file_name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            target = os.readlink(file_name, dir_fd=folder)
            return f"{name} -> {one_line(decode(os.fsencode(target)))}"
    except OSError as error:  # deleted since, or unreadable: must not hide the other entries
        return f"{name}  ({error.strerror})"
    if stat.S_ISDIR(status.st_mode):
        return f"{name}/"
    if stat.S_ISREG(status.st_mode):
        return f"{name}  {status.st_size:,} bytes"
    return f"{name}  ({kind(status)})"
