"""How much is searchable while the index is being built."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from navi.base.errors import NaviError
from navi.memory.index_errors import IndexUnusable, NoIndex
from navi.memory.index_paths import IndexPaths
from navi.memory.record_ids import session_id
from navi.vendors.source import Source


def index_progress(paths: IndexPaths, sources: Mapping[str, Source]) -> str | None:
    """A sentence with the number of sessions searchable so far; None if all are."""
    from navi.memory.read.session_list import SessionList

    ids: set[str] = set()
    for name, source in sources.items():
        with suppress(OSError, NaviError):  # `recall doctor` reports what can't be listed
            ids |= {session_id(name, file.path) for file in source.discover()}
    try:
        searchable = set(SessionList(paths).ids())
    except (NoIndex, IndexUnusable):
        searchable = set()
    missing = len(ids - searchable)
    if not missing:
        return None
    return (
        f"So far {len(ids) - missing:,} of {len(ids):,} sessions are searchable. A server indexes "
        "the rest by itself; without one, `recall index` does."
    )
