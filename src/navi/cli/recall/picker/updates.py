"""The next state after a key or an answer. Pure: each function takes a state and returns one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from navi.cli.recall.picker.arrangement import arrange
from navi.cli.recall.picker.state import (
    FIRST_LIMIT,
    PERIODS,
    Item,
    ListRequest,
    MeaningAnswer,
    MeaningStage,
    Narrowing,
    PickerState,
    PreviewRequest,
    SessionListing,
    WakeDialog,
)

if TYPE_CHECKING:
    from navi.memory.read.excerpts import Excerpt

ALL = 1_000_000
"""The limit for the jump to the last session."""


def resize(state: PickerState, columns: int, lines: int) -> PickerState:
    return _in_view(replace(state, columns=columns, lines=lines))


def type_query(state: PickerState, query: str, now: float) -> PickerState:
    if query == state.query:
        return state
    typed = replace(_by_words(state), query=query, typed_at=now)
    return replace(typed, limit=FIRST_LIMIT, note="", shows_keys=False)


def pause(state: PickerState, now: float) -> PickerState:
    """Search by meaning, too, if nothing was typed for a moment."""
    if state.seconds_to_pause(now) == 0:
        return replace(state, meaning=MeaningStage.DUE)
    return state


def narrow(state: PickerState, narrowing: Narrowing) -> PickerState:
    return replace(_by_words(state), narrowing=narrowing, limit=FIRST_LIMIT, note="")


def next_agent(state: PickerState) -> PickerState:
    """All agents, then each one that has sessions."""
    choices = (None, *state.listing.agents)
    agent = state.narrowing.agent
    index = choices.index(agent) if agent in choices else 0
    return narrow(state, replace(state.narrowing, agent=choices[(index + 1) % len(choices)]))


def toggle_project(state: PickerState) -> PickerState:
    """All projects, or that of the current folder."""
    return narrow(state, replace(state.narrowing, is_here=not state.narrowing.is_here))


def next_period(state: PickerState) -> PickerState:
    index = PERIODS.index(state.narrowing.period)
    return narrow(state, replace(state.narrowing, period=PERIODS[(index + 1) % len(PERIODS)]))


def show_listing(state: PickerState, request: ListRequest, listing: SessionListing) -> PickerState:
    """Show an answer by words, unless the state has moved on."""
    if request != state.words_request:
        return state
    before = state.answered
    is_same_list = before is not None and before[:2] == request[:2]
    if listing.problem:
        # A filter may be only half typed: keep the list on the screen.
        return replace(state, answered=request, problem=listing.problem)
    listed = replace(state, answered=request, listing=listing, problem="")
    if not is_same_list:
        return _at_first(listed)
    return _at_same_session(listed, state)


def show_meaning(state: PickerState, request: ListRequest, answer: MeaningAnswer) -> PickerState:
    """Show an answer by meaning in place of the one by words, unless the state has moved on."""
    if request != state.meaning_request:
        return state
    listing = answer.listing
    if listing is None:
        return replace(state, meaning=MeaningStage.MISSING, meaning_remark=answer.remark)
    listed = replace(state, answered=request, listing=listing, problem="")
    listed = replace(listed, meaning=MeaningStage.DONE, meaning_remark="")
    if state.meaning is MeaningStage.DONE:
        return _at_same_session(listed, state)
    if state.item is None:
        return _at_first(listed)
    # The selected session must not change: Enter might resume the wrong one.
    if all(item.id != state.item.id for item in listing.items):
        return replace(state, meaning=MeaningStage.MISSING)
    return _at_same_session(listed, state)


def show_agents(state: PickerState, agents: tuple[str, ...]) -> PickerState:
    return replace(state, listing=replace(state.listing, agents=agents))


def show_excerpt(
    state: PickerState, request: PreviewRequest, excerpt: Excerpt | None
) -> PickerState:
    if request != state.preview_request:
        return state
    return replace(state, previewed=request, excerpt=excerpt)


def move(state: PickerState, count: int) -> PickerState:
    """Select the session `count` lines further down, and list more of them near the end."""
    items = state.listing.items
    selected = max(0, min(state.selected + count, len(items) - 1))
    moved = replace(state, selected=selected, preview_scroll=0, note="")
    height = arrange(state.columns, state.lines).list_height
    if state.listing.has_more and not state.is_searching and selected + height >= len(items):
        moved = replace(moved, limit=max(state.limit * 2, FIRST_LIMIT))
    return _in_view(moved)


def move_pages(state: PickerState, count: int) -> PickerState:
    height = arrange(state.columns, state.lines).list_height
    return move(state, count * max(1, height - 1))


def move_to_first(state: PickerState) -> PickerState:
    return move(state, -state.selected)


def move_to_last(state: PickerState) -> PickerState:
    moved = move(state, len(state.listing.items))
    if not state.listing.has_more:
        return moved
    # Past the end: `show_listing` selects the last one once all of them are listed.
    return replace(moved, limit=ALL, selected=len(state.listing.items))


def scroll_preview(state: PickerState, scroll: int) -> PickerState:
    return replace(state, preview_scroll=scroll)


def renew(state: PickerState) -> PickerState:
    """Request everything again, because the index has changed."""
    return replace(state, generation=state.generation + 1)


def note(state: PickerState, text: str) -> PickerState:
    return replace(state, note=text)


def toggle_keys(state: PickerState) -> PickerState:
    return replace(state, shows_keys=not state.shows_keys)


def ask_when(state: PickerState, item: Item) -> PickerState:
    return replace(state, dialog=WakeDialog(item), note="")


def ask_what(state: PickerState, when: str) -> PickerState:
    assert state.dialog is not None
    return replace(state, dialog=replace(state.dialog, when=when), note="")


def close_dialog(state: PickerState) -> PickerState:
    return replace(state, dialog=None)


def _by_words(state: PickerState) -> PickerState:
    """Prepare for another list, which is first searched for by words."""
    return replace(state, meaning=MeaningStage.WAITING)


def _at_first(state: PickerState) -> PickerState:
    return replace(state, selected=0, top=0, preview_scroll=0)


def _at_same_session(state: PickerState, before: PickerState) -> PickerState:
    """Keep the selected session selected, if it is still listed."""
    ids = [item.id for item in state.listing.items]
    selected = before.selected
    if before.item is not None and before.item.id in ids:
        selected = ids.index(before.item.id)
    elif before.selected >= len(before.listing.items):  # the jump to the last one
        selected = len(ids) - 1
    return _in_view(replace(state, selected=max(0, min(selected, len(ids) - 1))))


def _in_view(state: PickerState) -> PickerState:
    """Scroll the list as little as needed to show the selected line."""
    height = arrange(state.columns, state.lines).list_height
    last_top = max(0, len(state.listing.items) - height)
    top = max(state.selected - height + 1, min(state.top, state.selected, last_top))
    return replace(state, top=max(0, top))
