"""What is highlighted in a passage."""

from __future__ import annotations

import pytest

from navi.memory.read.query import read_query
from navi.memory.read.snippets import matches_query, snippet


@pytest.mark.parametrize("length", [0, 40_000])
def test_words_are_highlighted_in_texts_of_any_length(length: int) -> None:
    excerpt = snippet("x" * length + " a Red  apple here", read_query("apple red"))
    assert [excerpt.text[start:end] for start, end in excerpt.highlights] == ["Red", "apple"]


def test_a_text_matches_a_query_as_a_search_would_find_it() -> None:
    text = "The AuthHandler drops the Café token"
    for query in ("token", "cafe TOKEN", "handler", '"cafe token"', "tok*", "token -plum"):
        assert matches_query(text, read_query(query)), query
    for query in ("plum", "token plum", '"token cafe"', "token -handler"):
        assert not matches_query(text, read_query(query)), query
