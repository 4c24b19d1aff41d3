"""The order of a search's passages."""

from __future__ import annotations

from typing import cast

import pytest

from navi.memory.read.query import read_query
from navi.memory.read.ranking import (
    LOOK_UP_WEIGHTS,
    SHOWN_PER_SESSION,
    Match,
    best_of_others,
    is_look_up,
    ranked,
)


def matches(*scores_and_sessions: tuple[float, int]) -> list[Match]:
    ordered = sorted(scores_and_sessions, reverse=True)
    return [Match(score, session, cast("object", None)) for score, session in ordered]  # type: ignore[arg-type]


def sessions(ranked_matches: list[Match]) -> list[int]:
    return [match.session for match in ranked_matches]


def test_a_session_with_several_good_passages_comes_before_one_with_a_single_better_one() -> None:
    found = matches((5.0, 1), (4.0, 2), (4.0, 2), (4.0, 2))
    assert sessions(ranked(found, 10)) == [2, 2, 2, 1]
    assert sessions(ranked(found, 10, LOOK_UP_WEIGHTS)) == [1, 2, 2, 2]


def test_a_talkative_session_leaves_room_for_others() -> None:
    found = matches(*((9.0, 1) for _ in range(50)), (2.0, 2), (1.0, 3))
    assert sessions(ranked(found, SHOWN_PER_SESSION + 2)) == [1] * SHOWN_PER_SESSION + [2, 3]


def test_room_that_others_leave_is_filled() -> None:
    found = matches(*((9.0, 1) for _ in range(50)), (1.0, 2))
    assert sessions(ranked(found, 20)) == [1] * 19 + [2]
    assert len(ranked(found, 1000)) == 51


def test_other_sessions_are_added_with_their_best_passage() -> None:
    found = matches((5.0, 1), (4.0, 2), (3.0, 2), (2.0, 3))
    assert [(match.session, match.score) for match in best_of_others(found, {1}, 5)] == [
        (2, 4.0),
        (3, 2.0),
    ]


@pytest.mark.parametrize(
    "query",
    [
        *("src/cart/totals.ts", "totals.ts", "auth_handler", "AuthHandler", "std::move"),
        *('"connection reset"', "migrat*", "apple -red", "git log --oneline", "foo()"),
    ],
)
def test_a_path_an_identifier_or_a_phrase_is_looked_up(query: str) -> None:
    assert is_look_up(read_query(query))


@pytest.mark.parametrize("query", ["how did we fix it?", "refresh token bug.", "What's slow, Ada"])
def test_a_question_is_no_look_up(query: str) -> None:
    assert not is_look_up(read_query(query))
