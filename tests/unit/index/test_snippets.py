"""What is highlighted in a passage."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navi.index.query import read_query
from navi.index.snippets import SHORT, _flat, by_hand, by_pattern, snippet

WORDS = ["a", "ab", "red", "apple", "é", "हिन्दी", "登", "登录", "x1", "2", "\u0308"]
TEXTS = st.lists(
    st.sampled_from([*WORDS, " ", " ", "_", "-", "\n", ".", "…", "RED", "ﬁ"]), max_size=30
).map("".join)
QUESTIONS = st.lists(
    st.sampled_from([*WORDS, "red apple", '"red apple"', "ap*", "a_b", "x1*", '"a b a"']),
    min_size=1,
    max_size=4,
).map(" ".join)


@settings(max_examples=500, deadline=None)
@given(TEXTS, QUESTIONS, st.booleans())
def test_short_texts_are_looked_through_with_the_result_of_a_pattern(
    text: str, question: str, is_whole: bool
) -> None:
    clauses = read_query(question)
    if clauses:
        assert by_hand(text, clauses, is_whole) == by_pattern(text, clauses, is_whole)


@given(st.text(st.sampled_from("ab \t\n\u2003\x1c"), max_size=12))
def test_a_run_of_blanks_is_one_space(text: str) -> None:
    assert _flat(text) == re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("length", [0, 2 * SHORT])
def test_words_are_highlighted_in_texts_of_any_length(length: int) -> None:
    found = snippet("x" * length + " a Red  apple here", read_query("apple red"))
    assert [found.text[start:end] for start, end in found.highlights] == ["Red", "apple"]
