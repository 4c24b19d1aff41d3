"""What can be wrong with an index, in the user's words."""

from __future__ import annotations

from navi.base.errors import Conflict, NaviError, NotFound


class IndexUnusable(NaviError):
    """It can't be opened or written: damaged, made by another version, or in a closed folder."""

    kind, http_status = "index_unusable", 503


class NoIndex(NotFound):
    kind = "no_index"

    def __init__(self) -> None:
        super().__init__("nothing is indexed yet", hint="recall index")


class IndexBusy(Conflict):
    kind = "index_busy"


class PastSessionNotFound(NotFound):
    kind = "session_not_found"

    def __init__(self, wanted: str) -> None:
        super().__init__(
            f"no indexed session is called {wanted}",
            hint="`recall list` shows the newest ones; `recall index` adds what is missing",
        )


class AmbiguousSession(NaviError):
    kind, http_status = "ambiguous_session", 409

    def __init__(self, wanted: str, candidates: list[str]) -> None:
        shown = "".join(f"\n  {candidate}" for candidate in candidates)
        super().__init__(
            f"{wanted} matches several sessions:{shown}", hint="give more characters of the id"
        )
