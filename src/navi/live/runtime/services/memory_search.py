"""The memory for agents: the same search as on the page, quoted within a budget of tokens.

The memory is imported on first use: a server whose agents never search doesn't load it.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from navi.base.errors import NotFound
from navi.live.runtime.services.memory_service import MemoryFilters, MemoryService
from navi.vendors.registry import sources

if TYPE_CHECKING:
    from navi.memory.read.search import SearchResult

HERE = "here"
EVERYWHERE = ("everywhere", "all", "*")
TOUCHES_PER_SESSION = 50
"""How many calls on the file to read, for each session in the answer."""
NOTHING_FOUND = "Nothing found."
NOTHING_HERE = "No match in this project; these are from the whole machine."
ONLY_NEAREST = "No passage has all these words; these are nearest in meaning, or have some of them."
NO_MODEL = "no_model"
"""The kind of problem if search by meaning is not set up. Answers need not mention it."""
ONLY_SOME_WORDS = "No passage has all these words; these have some of them."


class MemorySearch:
    def __init__(self, memory: MemoryService) -> None:
        self._memory = memory

    async def search(
        self,
        query: str,
        *,
        here: Path,
        source: str | None,
        project: str,
        file: str | None,
        since: str | None,
        limit: int,
        budget: int,
    ) -> str:
        from navi.memory.for_agents.found_passages import found_passages

        remarks: list[str] = []
        parameters = {"source": source or "", "file": file or "", "since": since or ""}
        if project not in (HERE, *EVERYWHERE):
            parameters["project"] = project
        words, filters = self._memory.read_query(query, self._memory.filters(parameters))
        scope = filters.project or project
        everywhere = replace(filters, project=None)
        if scope == HERE:
            folder = await asyncio.to_thread(_project_at, here)
            filters = replace(filters, project=folder)
        elif scope in EVERYWHERE:
            filters = everywhere
        results = await self._find(words, filters, limit)
        if scope == HERE and not _is_match(results):
            elsewhere = await self._find(words, everywhere, limit)
            if _is_match(elsewhere) or not (results and results.hits):
                results = elsewhere
                remarks.append(NOTHING_HERE)
        progress = await self._progress(is_empty=not (results and results.hits))
        if results is None or not results.hits:
            return f"{NOTHING_FOUND} {progress or ''}".rstrip()
        if not results.has_all_words:
            remarks.append(ONLY_NEAREST if results.goes_by_meaning else ONLY_SOME_WORDS)
        if results.problem is not None and results.problem.kind != NO_MODEL:
            remarks.append(f"Searched by words alone: {results.problem.message}.")
        if progress:
            remarks.append(progress)
        return found_passages(
            results.hits, remarks, budget, goes_by_meaning=results.goes_by_meaning
        )

    async def read(self, id: str, *, around: int | None, budget: int) -> str:
        from navi.memory.for_agents.session_extract import session_extract

        try:
            transcript = await self._memory.transcript(id)
        except NotFound:
            if progress := await self._progress(is_empty=True):
                return f"There is no session {id} in the index. {progress}"
            raise
        return session_extract(transcript, around, budget)

    async def file_history(self, path: str, *, since: str | None, limit: int, budget: int) -> str:
        from navi.memory.for_agents.file_history import file_history

        filters = self._memory.filters({"file": path, "since": since or ""})
        results = await self._find("", filters, limit * TOUCHES_PER_SESSION)
        if results is None or not results.hits:
            progress = await self._progress(is_empty=True)
            return f"No session on this machine touched {path}. {progress or ''}".rstrip()
        return file_history(results.hits, limit, budget)

    async def _find(self, words: str, filters: MemoryFilters, limit: int) -> SearchResult | None:
        """The search's result; None if there is no index."""
        from navi.memory.index_errors import NoIndex

        try:
            return await self._memory.find(words, filters, limit)
        except NoIndex:
            return None

    async def _progress(self, *, is_empty: bool) -> str | None:
        """A remark on how much is searchable, if not everything. Computed only if it may matter."""
        from navi.memory.for_agents.index_progress import index_progress
        from navi.memory.index_paths import index_paths
        from navi.memory.ingest import index_lock

        paths = index_paths()
        if not is_empty and not index_lock.is_held(paths.lock):
            return None
        return await asyncio.to_thread(index_progress, paths, sources())


def _is_match(results: SearchResult | None) -> bool:
    """Whether there are passages with all the words."""
    return results is not None and bool(results.hits) and results.has_all_words


def _project_at(folder: Path) -> str:
    """The project of a folder, as a filter: its repository, or the folder itself."""
    from navi.memory.ingest.derived.projects import repository_of

    path = os.path.realpath(folder)  # agents record the real path
    return (repository_of(path) or path).rstrip("/") + "/"
