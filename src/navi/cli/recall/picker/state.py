"""The picker's state and its requests for data, as immutable values."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from navi.memory.read.excerpts import Excerpt
    from navi.memory.read.search import Hit

Session = dict[str, Any]
"""A row of `SessionList`."""

PERIODS = (None, "today", "7d", "30d")
"""The values of the time filter, written as for `--since`."""
FIRST_LIMIT = 100
"""How many sessions to list, or passages to find, before somebody scrolls."""
DEFAULT_WHEN = "30m"
PAUSE_SECONDS = 0.25
"""How long after its last change a query is searched by meaning too."""


@dataclass(frozen=True, slots=True)
class Item:
    """A line of the list: a session, and what matched in it if there is a query."""

    session: Session
    hit: Hit | None = None
    query: str = ""
    """The words that `hit` matches."""

    @property
    def id(self) -> str:
        id: str = self.session["id"]
        return id


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The filters that are set by keys."""

    agent: str | None = None
    is_here: bool = False
    """Only the project of the current folder."""
    period: str | None = None
    """One of `PERIODS`."""


class ListRequest(NamedTuple):
    """Which list the state needs. Equal requests have equal answers."""

    query: str
    narrowing: Narrowing
    limit: int
    generation: int
    """How often the index was brought up to date."""


class MeaningStage(Enum):
    """The progress of the search by meaning. The search by words always runs at once."""

    WAITING = auto()
    """The query may still be changing."""
    DUE = auto()
    DONE = auto()
    """The list is the result of a search by words and meaning."""
    MISSING = auto()
    """The list stays the result of a search by words."""


class PreviewRequest(NamedTuple):
    item: Item | None
    generation: int


@dataclass(frozen=True, slots=True)
class SessionListing:
    """The answer to a `ListRequest`."""

    items: tuple[Item, ...] = ()
    count: int | None = None
    """How many sessions match the request; None if that is not known."""
    total: int = 0
    """How many sessions the index has."""
    has_more: bool = False
    """Whether a higher limit would list more."""
    agents: tuple[str, ...] = ()
    """The agents that have sessions."""
    problem: str = ""
    """Why there is no answer, for example because a filter is only half typed."""


class MeaningAnswer(NamedTuple):
    """The answer to a `ListRequest` by words and meaning."""

    listing: SessionListing | None
    """None if the query can't be searched by meaning."""
    remark: str = ""
    """Why it can't be, if that is worth showing."""


@dataclass(frozen=True, slots=True)
class WakeDialog:
    """Two questions, one after the other: when to wake the session, and what it should do."""

    item: Item
    when: str | None = None
    """None while the first question is open."""


@dataclass(frozen=True, slots=True)
class PickerState:
    columns: int
    lines: int
    prints: bool = False
    """Whether Enter prints the session's id instead of resuming it."""
    query: str = ""
    typed_at: float = 0.0
    """When the query last changed, in seconds of the monotonic clock."""
    narrowing: Narrowing = field(default_factory=Narrowing)
    limit: int = FIRST_LIMIT
    generation: int = 0
    answered: ListRequest | None = None
    """The request that `listing` answers."""
    listing: SessionListing = field(default_factory=SessionListing)
    meaning: MeaningStage = MeaningStage.WAITING
    meaning_remark: str = ""
    """Why the last search was by words alone, if that is worth showing."""
    selected: int = 0
    top: int = 0
    """The first visible line of the list."""
    excerpt: Excerpt | None = None
    previewed: PreviewRequest | None = None
    """The request that `excerpt` answers."""
    preview_scroll: int = 0
    """How many lines the preview is scrolled down from its first position."""
    note: str = ""
    problem: str = ""
    """Why there is no list for the query; the previous list is still shown."""
    shows_keys: bool = False
    dialog: WakeDialog | None = None

    @property
    def list_request(self) -> ListRequest:
        return ListRequest(self.query, self.narrowing, self.limit, self.generation)

    @property
    def words_request(self) -> ListRequest | None:
        """The list to search for by words; None after a search by meaning."""
        return None if self.meaning is MeaningStage.DONE else self.list_request

    @property
    def meaning_request(self) -> ListRequest | None:
        """The list to search for by words and meaning, if it is time for that."""
        is_outdated = self.meaning is MeaningStage.DONE and self.is_searching
        is_needed = is_outdated or self.meaning is MeaningStage.DUE
        return self.list_request if is_needed else None

    def seconds_to_pause(self, now: float) -> float | None:
        """How long until the query is searched by meaning; None if it will not be."""
        is_waiting = self.meaning is MeaningStage.WAITING and bool(self.query.strip())
        if not is_waiting or self.is_searching or self.problem:
            return None
        return max(0.0, self.typed_at + PAUSE_SECONDS - now)

    @property
    def preview_request(self) -> PreviewRequest:
        return PreviewRequest(self.item, self.generation)

    @property
    def item(self) -> Item | None:
        """The selected item, if any."""
        items = self.listing.items
        return items[self.selected] if self.selected < len(items) else None

    @property
    def is_searching(self) -> bool:
        return self.answered != self.list_request
