"""Searches by words and by meaning. Runs in its own thread, because loading a model is slow."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from navi.cli.recall.picker.session_reader import most_passages, read_request
from navi.memory.read.search import SearchResult

if TYPE_CHECKING:
    from navi.base.errors import NaviError
    from navi.cli.recall.picker.state import ListRequest
    from navi.memory.index_paths import IndexPaths
    from navi.memory.semantic.open_search import SearchOpener


class MeaningSearch:
    def __init__(self, paths: IndexPaths) -> None:
        self._paths = paths

    def find(self, request: ListRequest) -> SearchResult:
        """The hits, or the `problem` that prevents a search by meaning."""
        words, filters = read_request(request)
        opened = self._opener.open(self._paths)
        if opened.problem is not None:
            return SearchResult([], False, problem=opened.problem)
        return opened.search.find(words, filters, most_passages(request.limit))

    @cached_property
    def _opener(self) -> SearchOpener:
        # Imported here, because most people have no model and the first screen needs none.
        from navi.memory.semantic.open_search import SearchOpener

        return SearchOpener()


def remark(problem: NaviError) -> str:
    """The problem as a sentence; empty if search by meaning is switched off or not set up."""
    from navi.memory.semantic.semantic_errors import NoModel, SwitchedOff

    return "" if isinstance(problem, (NoModel, SwitchedOff)) else problem.sentence
