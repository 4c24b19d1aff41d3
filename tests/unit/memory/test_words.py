"""How texts become words."""

from __future__ import annotations

import re

import pytest

from navi.memory.ingest.write.folding import SIGNS, folded, parts
from navi.memory.words import FOLDED_ANALYZER, emoji_in, words_of


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


def test_signs_only_separate_words() -> None:
    signs = [chr(code) for code in range(0x2000, 0x2700) if re.match(f"[{SIGNS}]", chr(code))]
    assert len(signs) > 600
    for sign in signs:
        assert words_of(f"Big{sign}apples") == ["big", "apples"]
        assert folded(f"Big{sign}apples".encode()) == ("big apples", "")
        assert folded(f"Größe{sign}Müller".encode()) == ("grosse muller", "")
        assert emoji_in(sign) == []


def test_data_is_not_an_identifier() -> None:
    assert parts("aB" * 5000) == ""


def test_no_word_is_dropped_or_stemmed() -> None:
    text = "The running tests were not in THE 2nd house"
    expected = ["the", "running", "tests", "were", "not", "in", "the", "2nd", "house"]
    assert words_of(text) == expected
