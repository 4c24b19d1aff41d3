"""The picker's state: what keys and answers make of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from navi.cli.recall.picker import updates
from navi.cli.recall.picker.arrangement import arrange
from navi.cli.recall.picker.state import (
    PAUSE_SECONDS,
    Item,
    MeaningAnswer,
    PickerState,
    SessionListing,
)

ON_80_BY_24 = PickerState(80, 24)
LIST_HEIGHT = arrange(80, 24).list_height


def session(number: int, **values: Any) -> dict[str, Any]:
    return {"id": f"{number:016x}", "title": f"session {number}", "source": "codex", **values}


def listed(number: int, state: PickerState = ON_80_BY_24, **values: Any) -> PickerState:
    """The state once its request was answered with this many sessions."""
    items = tuple(Item(session(each)) for each in range(number))
    listing = SessionListing(items, len(items), total=len(items), agents=("claude_code", "codex"))
    return updates.show_listing(state, state.list_request, replace(listing, **values))


def paused(number: int) -> PickerState:
    """The state once typing has paused, with this many sessions found by words."""
    return updates.pause(listed(number, updates.type_query(ON_80_BY_24, "slow car", 0)), 1)


def by_meaning(state: PickerState, *numbers: int, **values: Any) -> PickerState:
    """The state once its request was answered by meaning, with these sessions."""
    items = tuple(Item(session(number)) for number in numbers)
    listing = replace(SessionListing(items, len(items), total=len(items)), **values)
    return updates.show_meaning(state, state.list_request, MeaningAnswer(listing))


def selected_number(state: PickerState) -> int:
    assert state.item is not None
    return int(state.item.id, 16)


def test_the_arrows_stop_at_the_first_and_the_last_session() -> None:
    state = listed(3)
    assert selected_number(updates.move(state, -1)) == 0
    assert selected_number(updates.move(updates.move(state, 5), 1)) == 2


def test_the_selected_session_is_always_in_the_visible_part_of_the_list() -> None:
    state = listed(50)
    for count in (1, LIST_HEIGHT, 7, -3, 30, -50, 49, -LIST_HEIGHT):
        state = updates.move(state, count)
        assert state.top <= state.selected < state.top + LIST_HEIGHT


def test_a_page_is_as_long_as_the_list_but_one_line() -> None:
    state = updates.move_pages(listed(50), 2)
    assert selected_number(state) == 2 * (LIST_HEIGHT - 1)
    assert selected_number(updates.move_pages(state, -1)) == LIST_HEIGHT - 1


def test_moving_in_an_empty_list_does_nothing() -> None:
    for update in (updates.move_to_first, updates.move_to_last):
        assert update(listed(0)).item is None
    assert updates.move(listed(0), 1).item is None


def test_another_query_begins_at_its_first_session() -> None:
    state = updates.type_query(updates.move(listed(9), 5), "auth", 0)
    assert state.is_searching
    assert selected_number(state) == 5  # until the answer is there
    assert selected_number(listed(9, state)) == 0


def test_an_answer_to_an_earlier_query_is_dropped() -> None:
    state = listed(9)
    earlier = updates.type_query(state, "au", 0)
    newest = updates.type_query(earlier, "auth", 0)
    answer = SessionListing((Item(session(77)),))
    assert updates.show_listing(newest, earlier.list_request, answer) == newest


def test_a_new_index_keeps_the_selected_session() -> None:
    state = updates.renew(updates.move(listed(9), 5))
    items = tuple(Item(session(number)) for number in (100, 101, *range(9)))
    renewed = updates.show_listing(state, state.list_request, SessionListing(items, 11, 11))
    assert selected_number(renewed) == 5
    assert renewed.selected == 7


def test_near_the_end_of_what_is_listed_more_is_asked_for() -> None:
    state = listed(100, count=5000, has_more=True)
    assert updates.move(state, 1).limit == state.limit
    further = updates.move(state, 95)
    assert further.limit == 2 * state.limit
    assert selected_number(listed(200, further, count=5000, has_more=True)) == 95


def test_the_jump_to_the_end_lists_everything_first() -> None:
    state = updates.move_to_last(listed(100, count=5000, has_more=True))
    assert state.limit == updates.ALL
    assert selected_number(listed(5000, state)) == 4999


def test_a_query_that_cannot_be_answered_leaves_the_list_and_says_why() -> None:
    state = updates.type_query(listed(9), "agent:co", 0)
    answer = SessionListing(problem="agent:co is not an agent")
    answered = updates.show_listing(state, state.list_request, answer)
    assert answered.problem == "agent:co is not an agent"
    assert len(answered.listing.items) == 9
    assert not answered.is_searching
    assert listed(2, updates.type_query(answered, "agent:codex", 0)).problem == ""


def test_a_query_is_searched_by_meaning_once_nothing_was_typed_for_a_moment() -> None:
    state = listed(9, updates.type_query(ON_80_BY_24, "slow", 10))
    assert state.seconds_to_pause(10.1) == pytest.approx(PAUSE_SECONDS - 0.1)
    assert updates.pause(state, 10.1).meaning_request is None
    typed = updates.type_query(state, "slow car", 10.2)
    # Not before the words have answered, either.
    assert typed.seconds_to_pause(20) is None
    assert updates.pause(typed, 20) == typed
    paused = updates.pause(listed(9, typed), 10.2 + PAUSE_SECONDS)
    assert paused.meaning_request == paused.list_request
    assert not paused.is_searching  # Enter takes what is on the screen
    assert updates.type_query(paused, "slow car ", 11).meaning_request is None


def test_nothing_typed_and_a_wrong_filter_are_not_searched_by_meaning() -> None:
    assert listed(9).seconds_to_pause(99) is None
    typed = updates.type_query(listed(9), "agent:co", 0)
    answer = SessionListing(problem="agent:co is not an agent")
    assert updates.show_listing(typed, typed.list_request, answer).seconds_to_pause(99) is None


def test_an_answer_by_meaning_replaces_the_list() -> None:
    state = by_meaning(paused(9), 7, 0, 20)
    assert [int(item.id, 16) for item in state.listing.items] == [7, 0, 20]
    assert (state.words_request, state.meaning_request) == (None, None)
    late = SessionListing((Item(session(0)),))
    assert updates.show_listing(state, state.list_request, late) == state


@pytest.mark.parametrize("lines", [0, 3])
def test_an_answer_by_meaning_keeps_the_selected_session(lines: int) -> None:
    state = updates.move(paused(9), lines)
    number = selected_number(state)
    answered = by_meaning(state, 7, 8, number)
    assert (selected_number(answered), answered.selected) == (number, 2)
    without = by_meaning(state, 7, 8)
    assert without.listing == state.listing
    assert (without.selected, without.meaning_request) == (state.selected, None)


def test_an_answer_by_meaning_to_an_earlier_query_is_dropped() -> None:
    state = paused(9)
    answer = MeaningAnswer(SessionListing((Item(session(20)),)))
    for later in (
        updates.type_query(state, "another", 1),
        updates.next_agent(state),
        updates.type_query(updates.type_query(state, "another", 1), state.query, 2),
    ):
        assert updates.show_meaning(later, state.list_request, answer) == later


def test_more_of_a_list_by_meaning_is_by_meaning_too() -> None:
    state = by_meaning(paused(9), *range(100), count=None, has_more=True)
    further = updates.move(state, 95)
    assert further.words_request is None
    assert further.meaning_request == further.list_request != state.list_request
    answered = by_meaning(further, *range(200, 300), *range(100))
    assert (selected_number(answered), answered.selected) == (95, 195)


def test_a_list_that_cannot_go_by_meaning_any_more_goes_by_words() -> None:
    further = updates.renew(by_meaning(paused(9), 7, 0))
    answer = MeaningAnswer(None, "the endpoint is down")
    state = updates.show_meaning(further, further.list_request, answer)
    assert state.words_request == state.list_request
    assert (state.meaning_request, state.meaning_remark) == (None, "the endpoint is down")
    assert listed(9, state).seconds_to_pause(99) is None  # until something is typed


def test_the_key_for_agents_goes_through_all_of_them() -> None:
    state, agents = listed(3), []
    for _ in range(4):
        state = listed(3, updates.next_agent(state))
        agents.append(state.narrowing.agent)
    assert agents == ["claude_code", "codex", None, "claude_code"]


def test_the_keys_for_project_and_time_go_round() -> None:
    state = updates.toggle_project(listed(3))
    assert state.narrowing.is_here
    assert not updates.toggle_project(state).narrowing.is_here
    periods = []
    for _ in range(4):
        state = updates.next_period(state)
        periods.append(state.narrowing.period)
    assert periods == ["today", "7d", "30d", None]
    assert state.narrowing.is_here


def test_a_preview_of_another_session_is_not_shown() -> None:
    state = listed(3)
    earlier = state.preview_request
    moved = updates.move(state, 1)
    assert updates.show_excerpt(moved, earlier, None) == moved
    assert updates.show_excerpt(moved, moved.preview_request, None).previewed is not None


def test_waking_asks_for_the_time_and_then_for_the_task() -> None:
    state = listed(3)
    assert state.item is not None
    asking = updates.ask_when(state, state.item)
    assert asking.dialog is not None
    assert asking.dialog.when is None
    then = updates.ask_what(asking, "30m")
    assert then.dialog is not None
    assert then.dialog.when == "30m"
    assert updates.close_dialog(then).dialog is None


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (200, 50), (40, 10), (20, 3), (119, 60)])
def test_the_parts_of_the_screen_fill_it(columns: int, lines: int) -> None:
    division = arrange(columns, lines)
    if division.is_beside:
        assert division.list_width + 1 + division.preview_width == columns
        assert division.list_height == lines - 3
    else:
        between = 1 if division.preview_height else 0
        assert division.list_height + between + division.preview_height == max(1, lines - 3)


def test_a_wide_terminal_has_the_preview_beside_the_list() -> None:
    assert not arrange(80, 24).is_beside
    assert arrange(200, 50).is_beside
    assert arrange(80, 10).preview_height == 0


def test_a_smaller_terminal_still_shows_the_selected_session() -> None:
    state = updates.move(listed(50, PickerState(80, 50)), 15)
    smaller = updates.resize(state, 80, 14)
    height = arrange(80, 14).list_height
    assert smaller.top <= smaller.selected < smaller.top + height
