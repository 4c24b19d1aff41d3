"""Searches the memory for agents."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from navi.base.secrets.masking import mask

if TYPE_CHECKING:
    from navi.memory.read.search import Hit


class MemorySearch:
    async def find(self, query: str, source: str | None, project: str | None, limit: int) -> str:
        return await asyncio.to_thread(self._find, query, source, project, limit)

    def _find(self, query: str, source: str | None, project: str | None, limit: int) -> str:
        # Imported on use: a server whose agents never search need not load the index.
        from navi.memory.index_paths import places
        from navi.memory.read.search import Filters, Search

        results = Search(places()).find(query, Filters(source=source, project=project), limit)
        if not results.hits:
            return "Nothing found."
        lines = [_passage(hit) for hit in results.hits]
        if not results.has_all_words:
            lines.insert(0, "No passage has all these words; these have some of them.")
        return "\n".join(lines)


def _passage(hit: Hit) -> str:
    day = "" if hit.timestamp is None else f"{hit.timestamp:%Y-%m-%d} "
    who = hit.tool_name or hit.role or ""
    where = f"{hit.session_id} {hit.source} {hit.project or '(no project)'}"
    return f"{day}{where}\n  {who}: {mask(hit.snippet.text)}"
