"""Everything that could control a terminal is removed from texts, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navi.base.control_characters import CONTROL_CHARACTER, one_line, without_control_characters

FORBIDDEN = [
    *(chr(code) for code in range(0x20) if chr(code) not in "\n\t"),
    *map(chr, range(0x7F, 0xA0)),
    *"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x1b[0m and \x9b1;32mgreen\x9bm", "red and green"),
        ("a\x1b[2J\x1b[H\x1b[?1049hb", "ab"),
        ("\x1b]0;title\x07text", "]0;titletext"),
        ("\x1b]8;;https://host\x1b\\link\x1b]8;;\x1b\\", "]8;;https://host\\link]8;;\\"),
        ("\x1bPq\x1b\\ \x1b_a\x1b\\ \x1b^p\x1b\\ \x1bXs\x1b\\", "Pq\\ _a\\ ^p\\ Xs\\"),
        ("\x1b]52;c;never ended", "]52;c;never ended"),
        ("\x1b\x1b[31m[31m", "[31m"),
        ("user\u202egnp.exe", "usergnp.exe"),
        ("one\r\ntwo\tthree\n", "one\ntwo\tthree\n"),
    ],
)
def test_control_characters_go_and_what_they_wrapped_stays(text: str, expected: str) -> None:
    assert without_control_characters(text) == expected


@pytest.mark.parametrize(
    "text",
    ["👩‍👩‍👧‍👦 🏳️‍🌈", "e\u0301 n\u0303", "日本語 한국어", "שלום עולם مرحبا", "café\n\tнет", ""],
)
def test_every_script_and_emoji_stays(text: str) -> None:
    assert without_control_characters(text) is text


@given(st.text(st.sampled_from([*FORBIDDEN, *"[]0;5mJ \n\ta"]), max_size=30))
def test_no_forbidden_character_is_left_whatever_the_order(text: str) -> None:
    cleaned = without_control_characters(text)
    assert not set(FORBIDDEN) & set(cleaned)
    assert without_control_characters(cleaned) == cleaned
    assert CONTROL_CHARACTER.search(one_line(text)) is None
    assert "\n" not in one_line(text)


def test_a_long_run_of_broken_sequences_takes_linear_time() -> None:
    for piece in ("\x1b[", "\x1b[0;", "\x9b1", "\x1b]", "\x1b[ "):
        text = piece * 200_000
        assert len(without_control_characters(text)) < len(text)
