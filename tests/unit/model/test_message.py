from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from navi.live.model.event import (
    HistoryCompacted,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnEvent,
    merge_deltas,
    turn_event,
)
from navi.live.model.message import NOT_FINISHED, MessageRole, drafts_of, with_ending
from navi.live.model.turn import Ending, Outcome

OK = Ending(Outcome.OK)


def test_text_and_thinking_become_one_message() -> None:
    (draft,) = drafts_of([ThinkingDelta("hm"), ThinkingDelta("m"), TextDelta("a"), TextDelta("b")])

    assert (draft.thinking, draft.content) == ("hmm", "ab")


def test_what_comes_after_a_tools_answer_is_the_next_message() -> None:
    drafts = drafts_of(
        [
            TextDelta("I look."),
            ToolStarted("1", "terminal", {"command": "ls"}),
            ToolFinished("1", "terminal", {"command": "ls"}, "a.txt"),
            TextDelta("Found it."),
        ]
    )

    assert [draft.content for draft in drafts] == ["I look.", "Found it."]
    assert drafts[0].tool_calls[0].result == "a.txt"


def test_parallel_calls_belong_to_one_message_whatever_the_order_of_their_answers() -> None:
    drafts = drafts_of(
        [
            ToolStarted("1", "a", {}),
            ToolStarted("2", "b", {}),
            ToolFinished("2", "b", {}, "two"),
            ToolFinished("1", "a", {}, "one", is_error=True),
        ]
    )

    (draft,) = drafts
    assert [(call.id, call.result, call.is_error) for call in draft.tool_calls] == [
        ("1", "one", True),
        ("2", "two", False),
    ]


def test_a_call_that_never_answered_says_so_in_the_transcript() -> None:
    ending = Ending(Outcome.STOPPED)
    kept = with_ending(drafts_of([TextDelta("x"), ToolStarted("1", "a", {})]), ending)

    assert kept[0].tool_calls[0].result == NOT_FINISHED
    assert kept[-1].metadata["outcome"] == "stopped"


def test_every_turn_leaves_a_visible_end() -> None:
    assert with_ending([], OK)[-1].content == "(finished with nothing to report)"
    assert with_ending([], Ending(Outcome.ERROR, "no key"))[-1].content == "(failed: no key)"
    assert with_ending([], Ending(Outcome.STOPPED))[-1].content == "(stopped)"
    limit = Ending(Outcome.MAX_ITERATIONS, "stopped after 3 steps")
    assert with_ending([], limit)[-1].content == "(stopped after 3 steps)"
    denied = Ending(Outcome.DENIED, "refused: Bash(ls)")
    assert with_ending([], denied)[-1].content == "(refused: Bash(ls))"
    limited = Ending(Outcome.LIMIT, "resets at 3am")
    assert with_ending([], limited)[-1].content == "(usage limit: resets at 3am)"


def test_where_nobody_looks_on_a_limited_turn_says_so_and_a_refused_one_keeps_its_answer() -> None:
    drafts = drafts_of([TextDelta("I could not")])

    limited = with_ending(drafts, Ending(Outcome.LIMIT, "resets at 3am"), must_speak=True)
    assert [draft.content for draft in limited] == ["I could not", "(usage limit: resets at 3am)"]
    denied = with_ending(drafts, Ending(Outcome.DENIED, "refused: Bash(ls)"), must_speak=True)
    assert [draft.content for draft in denied] == ["I could not"]
    assert denied[0].metadata == {"outcome": "denied", "error": "refused: Bash(ls)"}


def test_a_good_answer_is_kept_as_it_is() -> None:
    drafts = drafts_of([TextDelta("done")])
    assert with_ending(drafts, OK) == drafts


def test_a_summary_is_a_message_of_its_own() -> None:
    summary, answer = drafts_of([HistoryCompacted("so far", 7), TextDelta("on we go")])

    assert (summary.role, summary.content, summary.compacted_up_to) == (
        MessageRole.SYSTEM,
        "so far",
        7,
    )
    assert answer.content == "on we go"


texts = st.text(max_size=5)
events = st.one_of(
    texts.map(TextDelta),
    texts.map(ThinkingDelta),
    st.builds(ToolStarted, st.sampled_from("123"), texts, st.just({})),
    st.builds(ToolFinished, st.sampled_from("123"), texts, st.just({}), texts),
    st.builds(HistoryCompacted, texts, st.integers(0, 9)),
)


@given(st.lists(events, max_size=20))
def test_merging_deltas_never_changes_the_text(happened: list[TurnEvent]) -> None:
    def joined(of: list[TurnEvent], kind: type) -> str:
        return "".join(event.delta for event in of if isinstance(event, kind))  # type: ignore[union-attr]

    merged = merge_deltas(happened)

    assert joined(merged, TextDelta) == joined(happened, TextDelta)
    assert joined(merged, ThinkingDelta) == joined(happened, ThinkingDelta)
    assert [e for e in merged if not hasattr(e, "delta")] == [
        e for e in happened if not hasattr(e, "delta")
    ]


@given(st.lists(events, max_size=20))
def test_events_read_back_from_the_store_are_the_same_events(happened: list[TurnEvent]) -> None:
    assert [turn_event(event.type, event.payload()) for event in happened] == happened


@given(st.lists(events, max_size=20), st.sampled_from(list(Outcome)))
def test_every_turn_ends_with_a_message_whose_calls_are_all_answered(
    happened: list[TurnEvent], outcome: Outcome
) -> None:
    kept = with_ending(drafts_of(happened), Ending(outcome, "why"))

    assert kept[-1].role is MessageRole.ASSISTANT
    assert all(call.result is not None for draft in kept for call in draft.tool_calls)
