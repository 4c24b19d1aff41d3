"""A home with transcripts of Claude Code, and the index of that home."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from navi.memory import database
from navi.memory.index_paths import IndexPaths, index_paths
from navi.memory.index_settings import searchable_fields
from navi.memory.ingest.refresh import Refresh
from navi.memory.ingest.report import RefreshResult
from navi.memory.read.search import EVERYTHING, Filters, Hit, Search
from navi.memory.read.session_list import EVERY_SESSION, SessionFilters, SessionList
from navi.memory.read.session_transcript import Transcript, transcript
from navi.vendors import registry
from navi.vendors.source import Source

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


class FixedClock:
    def now(self) -> datetime:
        return START + timedelta(days=1)


@dataclass(slots=True)
class File:
    """One transcript; each added line gets the next number and time."""

    path: Path
    session: str
    cwd: str
    count: int = 0

    def say(self, text: str, role: str = "user", **extra: Any) -> File:
        content: Any = text if role == "user" else [{"type": "text", "text": text}]
        return self.line(role, content, **extra)

    def think(self, text: str) -> File:
        return self.line("assistant", [{"type": "thinking", "thinking": text}])

    def run(self, command: str, tool: str = "Bash", text: str = "") -> File:
        blocks: list[Any] = [{"type": "text", "text": text}] if text else []
        call = {"type": "tool_use", "id": f"t{self.count}", "name": tool}
        return self.line("assistant", [*blocks, {**call, "input": {"command": command}}])

    def printed(self, text: str, call: int | None = None, *, is_error: bool = False) -> File:
        """What the call in the last line printed, or that in line `call`."""
        id = f"t{self.count - 1 if call is None else call}"
        result = {"type": "tool_result", "tool_use_id": id, "content": text}
        return self.line("user", [{**result, "is_error": is_error}])

    def edit(self, path: str, tool: str = "Edit") -> File:
        call = {"type": "tool_use", "id": f"t{self.count}", "name": tool}
        return self.line("assistant", [{**call, "input": {"file_path": path}}])

    def fail(self, error: str) -> File:
        """The turn ends with an error of the model's provider."""
        self.line("assistant", [{"type": "text", "text": error}], model="<synthetic>")
        lines = self.path.read_bytes().splitlines(keepends=True)
        failed = {**json.loads(lines[-1]), "isApiErrorMessage": True}
        self.path.write_bytes(b"".join(lines[:-1]))
        return self.raw(json.dumps(failed).encode() + b"\n")

    def line(self, role: str, content: Any, **extra: Any) -> File:
        message: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{self.session}_{self.count}", "model": "claude-opus-4"}
            message["usage"] = {"input_tokens": 10, "output_tokens": 5}
        message |= extra
        value = {
            "type": role,
            "uuid": f"{self.session}-{self.count}",
            "sessionId": self.session,
            "cwd": self.cwd,
            "timestamp": (START + timedelta(seconds=self.count)).isoformat(),
            "message": message,
        }
        self.count += 1
        return self.raw(json.dumps(value, ensure_ascii=False).encode() + b"\n")

    def raw(self, data: bytes) -> File:
        with self.path.open("ab") as file:
            file.write(data)
        return self


@dataclass(slots=True)
class World:
    home: Path
    sources: dict[str, Source] = field(default_factory=registry.sources)

    @property
    def paths(self) -> IndexPaths:
        return index_paths()

    def file(self, name: str = "s1", project: str = "shop") -> File:
        folder = self.home / ".claude" / "projects" / f"-{project}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.jsonl"
        path.touch()
        return File(path, name, str(self.home / project))

    def fill(self, files: int, messages: int) -> None:
        """Write files in three projects, each with words of its own."""
        for number in range(files):
            file = self.file(f"s{number}", f"p{number % 3}")
            for turn in range(messages):
                file.say(f"question {turn} about thing{number}")
                command = f"grep thing{number} file{turn}"
                file.run(command, text=f"answer {turn} AuthHandler{number}")
                file.think(f"thought {turn}")

    def refresh(self, *, full: bool = False, in_parallel: bool = False) -> Refresh:
        return Refresh(
            self.paths,
            self.sources,
            searchable_fields(),
            FixedClock(),
            in_parallel=in_parallel,
            is_full=full,
        )

    def index(
        self, *, full: bool = False, recreate: bool = False, in_parallel: bool = False
    ) -> RefreshResult:
        return self.refresh(full=full, in_parallel=in_parallel).run(recreate=recreate)

    def find(self, text: str, filters: Filters = EVERYTHING, limit: int = 1000) -> list[Hit]:
        return Search(self.paths).find(text, filters, limit).hits

    def texts(self, text: str, filters: Filters = EVERYTHING) -> list[str]:
        return sorted(hit.snippet.text for hit in self.find(text, filters))

    def sessions(self, filters: SessionFilters = EVERY_SESSION) -> list[dict[str, Any]]:
        return SessionList(self.paths).sessions(filters)

    def transcript(self, session_id: str) -> Transcript:
        with database.reading(self.paths) as connection:
            return transcript(connection, session_id)

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with database.reading(self.paths) as connection:
            return connection.execute(statement).fetchall()

    def everything(self) -> dict[str, Any]:
        """The whole content of the index, in a fixed order for comparison."""
        with database.reading(self.paths) as connection:
            tables = {
                table: connection.execute(f"SELECT {columns} FROM {table} ORDER BY ALL").fetchall()
                for table, columns in (
                    ("sessions", "* EXCLUDE (indexed_at, mark)"),
                    ("messages", "*"),
                    ("tool_calls", "*"),
                    ("tool_outputs", "*"),
                    ("(SELECT DISTINCT * FROM turns)", "*"),
                    ("(SELECT DISTINCT * FROM usages)", "*"),
                )
            }
        documents = sorted(self.documents())
        return {
            **tables,
            "texts": [each for each in documents if not each[-1].startswith("shown")],
            "cards": [each for each in documents if each[-1].startswith("shown")],
        }

    def documents(self) -> Iterable[tuple[Any, ...]]:
        """Every document of the full-text index."""
        import tantivy

        from navi.memory.read import full_text

        searcher = full_text.open_for_reading(self.paths).searcher()
        hits = searcher.search(tantivy.Query.all_query(), max(1, searcher.num_docs)).hits
        addresses = [address for _, address in hits]
        columns = [
            searcher.fast_field_values(name, addresses)
            for name in ("session", "place", "what", "agent", "at")
        ]
        for address, numbers in zip(addresses, zip(*columns, strict=True), strict=True):
            stored = searcher.doc(address).to_dict()
            yield (*map(str, numbers), *(f"{name}: {stored[name]}" for name in sorted(stored)))


def copy_index(prepared: IndexPaths, paths: IndexPaths) -> None:
    """Put a copy of an index in place of making one, which takes three times as long."""
    paths.prepare()
    shutil.copy(prepared.database, paths.database)
    shutil.copytree(prepared.texts, paths.texts)


def touch(path: Path, seconds: float = 5) -> None:
    """Advance the modification time, which two quick writes may leave equal."""
    then = os.stat(path).st_mtime + seconds
    os.utime(path, (then, then))
