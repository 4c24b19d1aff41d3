"""Errors about the index."""

from __future__ import annotations

from navi.base.errors import Conflict, NaviError, NotFound


class IndexUnusable(NaviError):
    """The index is damaged, from another version, or in a folder that can't be read or written."""

    kind, http_status = "index_unusable", 503


class NoIndex(NotFound):
    kind = "no_index"

    def __init__(self) -> None:
        super().__init__("nothing is indexed yet", hint="recall index")


class IndexBusy(Conflict):
    kind = "index_busy"


class PastSessionNotFound(NotFound):
    kind = "session_not_found"

    def __init__(self, reference: str) -> None:
        super().__init__(
            f"there is no indexed session {reference}",
            hint="`recall list` shows the ids; for a session of `sm status`, use `sm output`",
        )


class AmbiguousSession(NaviError):
    kind, http_status = "ambiguous_session", 409

    def __init__(self, reference: str, candidates: list[str]) -> None:
        lines = "".join(f"\n  {candidate}" for candidate in candidates)
        super().__init__(
            f"{reference} matches several sessions:{lines}", hint="give more characters of the id"
        )
