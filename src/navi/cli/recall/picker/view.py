"""A state as styled text. Pure: the time is passed in."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from navi.base.secrets.masking import masked
from navi.cli import cells, formats
from navi.cli.recall.picker.arrangement import arrange
from navi.cli.recall.picker.keys import hints, key_help
from navi.cli.recall.picker.preview_view import FAINT, Line, heading, visible
from navi.cli.recall.picker.screen_text import screen_line

if TYPE_CHECKING:
    from navi.cli.recall.picker.state import Item, PickerState, Session

PERIOD_NAMES = {None: "any", "today": "today", "7d": "7 days", "30d": "30 days"}
MARKER_WIDTH, AGE_WIDTH, AGENT_WIDTH = 2, 8, 11
NARROWEST_PROJECT, WIDEST_PROJECT = 10, 28
ROOM_FOR_AGENT = 60
"""How wide the list must be for a column with the agent."""
HEADING_LINES = 2


def label(state: PickerState) -> str:
    """The prompt before the input."""
    if state.dialog is None:
        return "recall> "
    return "wake when> " if state.dialog.when is None else "what to do> "


def count(state: PickerState) -> Line:
    """How many sessions are listed."""
    listing = state.listing
    number = f"{len(listing.items):,}+" if listing.count is None else f"{listing.count:,}"
    sign = "… " if state.is_searching else ""
    return [(FAINT, f"{sign}{number} of {listing.total:,}")]


def filters(state: PickerState, here: str) -> Line:
    """The filters that have keys, each with its key."""
    narrowing = state.narrowing
    agent = "all" if narrowing.agent is None else formats.source(narrowing.agent)
    project = screen_line(here) if narrowing.is_here else "all"
    pieces = (
        ("F2", "agent", agent, narrowing.agent is not None),
        ("F3", "project", project, narrowing.is_here),
        ("F4", "time", PERIOD_NAMES[narrowing.period], narrowing.period is not None),
    )
    line: Line = []
    for key, name, value, is_set in pieces:
        line += [("bold", f"{key} "), (FAINT, f"{name}: ")]
        line += [("class:filter" if is_set else FAINT, value), ("", "   ")]
    return line


def session_lines(state: PickerState, now: datetime) -> list[Line]:
    """The visible part of the list."""
    division = arrange(state.columns, state.lines)
    items = state.listing.items
    if not items:
        problem = "" if state.is_searching else _why_empty(state)
        return [[(FAINT, cells.cut(f"  {problem}", division.list_width))]]
    last = min(len(items), state.top + division.list_height)
    return [
        _row(items[index], index == state.selected, division.list_width, now)
        for index in range(state.top, last)
    ]


def preview_lines(state: PickerState) -> tuple[list[Line], int]:
    """The preview, and how far it is scrolled."""
    division = arrange(state.columns, state.lines)
    item, excerpt = state.item, state.excerpt
    if item is None or division.preview_height <= HEADING_LINES:
        return [], 0
    width = division.preview_width
    if excerpt is not None and excerpt.session_id != item.id:
        excerpt = None  # it belongs to the session that was selected before
    height = division.preview_height - HEADING_LINES - 1
    text, scroll = visible(excerpt, width, height, state.preview_scroll)
    return [*heading(item.session, width), [], *text], scroll


def border(state: PickerState) -> list[Line]:
    """The line between list and preview."""
    division = arrange(state.columns, state.lines)
    if division.is_beside:
        return [[(FAINT, "│")]] * division.preview_height
    return [[(FAINT, "─" * division.preview_width)]]


def last_line(state: PickerState) -> Line:
    """A note, a problem or the most important keys."""
    if state.dialog is not None and not state.note:
        if state.dialog.when is None:
            return [("", "30m, 18:00, tomorrow 9:00 …   Enter continues, Esc cancels")]
        return [("", "What the session should do   Enter schedules it, Esc cancels")]
    if text := state.note or state.problem:
        return [("bold", cells.cut(screen_line(text), state.columns))]
    line: Line = []
    used = 0
    for key, meaning in hints(state.prints):
        used += len(key) + len(meaning) + 4
        if used > state.columns:
            break
        line += [("bold", key), (FAINT, f" {meaning}   ")]
    return line


def key_lines(state: PickerState) -> list[Line]:
    """All keys and what they do."""
    rows = key_help(state.prints)
    width = max(len(keys) for keys, _ in rows)
    lines: list[Line] = [
        [("bold", f"  {keys:<{width}}  "), ("", meaning)] for keys, meaning in rows
    ]
    if state.meaning_remark:
        lines += [[], [(FAINT, f"  by words alone: {screen_line(state.meaning_remark)}")]]
    return lines


def joined(lines: Iterable[Line]) -> Line:
    """The lines as one text."""
    text: Line = []
    for line in lines:
        text += [*line, ("", "\n")]
    return text[:-1]


def _why_empty(state: PickerState) -> str:
    if state.listing.total == 0:
        return "no sessions yet; `recall doctor` shows where recall looks for them"
    if not state.query.strip():
        return "no session matches these filters"
    return "nothing matches"


def _row(item: Item, is_selected: bool, width: int, now: datetime) -> Line:
    session = item.session
    latest = session["ended_at"] or session["started_at"]
    age = formats.age(None if latest is None else datetime.fromisoformat(latest), now)
    place_width = max(NARROWEST_PROJECT, min(width // 5, WIDEST_PROJECT))
    pieces = [("class:age", f"{age:>{AGE_WIDTH}}  ")]
    used = MARKER_WIDTH + AGE_WIDTH + 2 + place_width + 2
    if width >= ROOM_FOR_AGENT:
        agent = cells.padded(cells.cut(formats.source(session["source"]), AGENT_WIDTH), AGENT_WIDTH)
        pieces.append(("class:agent", f"{agent}  "))
        used += AGENT_WIDTH + 2
    place = cells.cut(_place(session["project"] or ""), place_width, keep_end=True)
    pieces.append(("class:place", cells.padded(place, place_width) + "  "))
    title = cells.cut(_title(session), max(1, width - used))
    pieces.append(("", cells.padded(title, max(0, width - used))))
    if not is_selected:
        return [("", " " * MARKER_WIDTH), *pieces]
    return [("class:selected", text) for text in ("> ", *(text for _, text in pieces))]


def _title(session: Session) -> str:
    flags = ["sub-agent"] * session["is_subagent"] + ["file gone"] * session["is_archived"]
    flags += ["incomplete"] * (not session["is_complete"])
    labels = [*(f"[{flag}]" for flag in flags), *(f"#{tag}" for tag in session["tags"])]
    return " ".join([*map(screen_line, labels), _clean_title(session["title"] or "")])


@lru_cache(maxsize=2_000)
def _clean_title(title: str) -> str:
    return screen_line(masked(title)) or "(no title)"


@lru_cache(maxsize=500)
def _place(project: str) -> str:
    return screen_line(formats.short_path(project))
