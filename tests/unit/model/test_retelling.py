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


def heard(earlier: list[TurnEvent], story: list[TurnEvent]) -> list[TurnEvent]:
    retelling = ReplayFilter(earlier)
    rest = (retelling.rest_of(event) for event in story)
    return [event for event in rest if event is not None]


@given(EVENTS, st.data())
def test_a_story_told_again_from_the_beginning_is_heard_once(
    story: list[TurnEvent], data: st.DataObject
) -> None:
    """However its deltas were joined, and wherever the first stream was cut off."""
    cut = data.draw(st.integers(0, len(story)))
    earlier = merge_deltas(story[:cut])
    assert merge_deltas([*earlier, *heard(earlier, story)]) == merge_deltas(story)


def test_another_story_is_heard_as_it_is() -> None:
    assert heard([TextDelta("once")], [TextDelta("never")]) == [TextDelta("never")]
