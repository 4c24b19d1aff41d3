"""The search of the first release.

It ranks single passages, not sessions, and does not search the output of tools. If no passage has
all of the words, it returns those with some of them.
"""

from __future__ import annotations

from navi.memory.read.query import read_query
from navi.memory.read.ranking import Match
from navi.memory.read.search import Hit, Search

FIELDS = ("content", "thinking", "bash", "file")


class ReleasedSearch(Search):
    def hits(self, words: str, limit: int) -> list[Hit]:
        clauses, searcher = read_query(words), self._index.searcher()
        for_all, for_some = (
            self._query(clauses, [], needs_all=needs_all) for needs_all in (True, False)
        )
        found = searcher.search(for_all, limit, count=False).hits
        found = found or searcher.search(for_some, limit, count=False).hits
        numbers = searcher.fast_field_values("session", [address for _, address in found])
        matches = [
            Match(score, int(number or 0), address)
            for (score, address), number in zip(found, numbers, strict=True)
        ]
        return self._hits(searcher, matches, clauses)
