from __future__ import annotations

import random
import zlib

from navi.live.tools.files.decoded_text import REPLACEMENT, decode, is_binary, one_line


def test_what_cannot_be_decoded_becomes_a_mark() -> None:
    assert decode(b"a\xffb") == f"a{REPLACEMENT}b"


def test_a_nul_becomes_a_mark_because_postgresql_keeps_none() -> None:
    assert decode(b"a\0b") == f"a{REPLACEMENT}b"


def test_half_a_character_is_dropped_only_where_the_data_was_cut() -> None:
    cut = "a€".encode()[:-1]
    assert decode(cut, is_whole=False) == "a"
    assert decode(cut) == f"a{REPLACEMENT}"


def test_text_in_any_usual_encoding_is_not_binary() -> None:
    sentence = "Größe und Maß: schöne Grüße aus der Straße, sagt Zoë.\n"
    assert not is_binary(sentence.encode())
    assert not is_binary(sentence.encode("latin-1"))
    assert not is_binary("日本語の文章です。\n".encode() * 1000)
    assert not is_binary(b"\x1b[31mred\x1b[0m and a few more words\n" * 10)
    assert not is_binary(b"")


def test_nul_bytes_and_compressed_data_are_binary() -> None:
    assert is_binary(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    noise = random.Random(1).randbytes(2000)
    assert is_binary(zlib.compress(noise).replace(b"\0", b""))


def test_a_name_cannot_break_out_of_its_line() -> None:
    assert one_line("a\nb\x1b[0m") == "a\\nb\\x1b[0m"
    assert one_line("größe 名") == "größe 名"
