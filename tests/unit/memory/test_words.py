"""How texts become words."""

from __future__ import annotations

import pytest

from navi.memory.ingest.write.folding import folded, parts
from navi.memory.words import FOLDED_ANALYZER, words_of


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("AuthHandler", "Auth Handler"),
        ("parseJSONFile", "parse JSON File"),
        ("HTTPServer", "HTTP Server"),
        ("getUser2Factor", "get User 2 Factor"),
        ("plain words_only here", ""),
        ("SHOUTING", ""),
        ("登录ok", " 登  录 ok "),
    ],
)
def test_words_inside_words_are_found(text: str, inner: str) -> None:
    assert parts(text).lower().split() == inner.lower().split()


@pytest.mark.parametrize(
    "text", ["Plain ASCII, AuthHandler_2!", "Größe: Müller", "Mu\u0308ller 登录 ok", "½ ﬁ İstanbul"]
)
def test_texts_and_questions_have_the_same_words(text: str) -> None:
    words, _ = folded(text.encode())
    assert FOLDED_ANALYZER.analyze(words) == words_of(text)


def test_data_is_no_identifier() -> None:
    assert parts("aB" * 5000) == ""


def test_no_word_is_dropped_or_stemmed() -> None:
    text = "The running tests were not in THE 2nd house"
    expected = ["the", "running", "tests", "were", "not", "in", "the", "2nd", "house"]
    assert words_of(text) == expected
