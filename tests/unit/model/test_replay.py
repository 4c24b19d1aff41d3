"""A turn that is replayed after an interruption is stored once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from navi.live.model.event import TextDelta, ThinkingDelta, ToolStarted, TurnEvent, merge_deltas
from navi.live.model.replay import ReplayFilter

EVENTS = st.lists(
    st.one_of(
        st.builds(TextDelta, st.text("ab", min_size=1, max_size=4)),
        st.builds(ThinkingDelta, st.text("ab", min_size=1, max_size=4)),
        st.builds(ToolStarted, st.sampled_from("12"), st.just("Bash"), st.just({})),
    ),
    max_size=8,
)


def new_events(stored: list[TurnEvent], replay: list[TurnEvent]) -> list[TurnEvent]:
    filtered = ReplayFilter(stored)
    rest = (filtered.rest_of(event) for event in replay)
    return [event for event in rest if event is not None]


@given(EVENTS, st.data())
def test_a_replay_from_the_start_adds_only_what_is_new(
    turn: list[TurnEvent], data: st.DataObject
) -> None:
    """However its deltas were joined, and wherever the first stream was cut off."""
    cut = data.draw(st.integers(0, len(turn)))
    stored = merge_deltas(turn[:cut])
    assert merge_deltas([*stored, *new_events(stored, turn)]) == merge_deltas(turn)


def test_a_replay_that_differs_is_kept_whole() -> None:
    assert new_events([TextDelta("once")], [TextDelta("never")]) == [TextDelta("never")]
