"""What was said is cut into passages of about a thousand characters."""

from __future__ import annotations

from navi.memory.semantic.vectors.passages import LENGTH, MOST, SHORTEST, digest, passages


def test_a_short_message_is_one_passage_and_a_single_word_none() -> None:
    assert passages("  fix the login page \n") == ["fix the login page"]
    assert passages("ok") == []
    assert passages(" \n ") == []


def test_a_long_message_is_cut_where_a_paragraph_a_line_a_sentence_or_a_word_ends() -> None:
    for end in ("\n\n", "\n", ". ", " "):
        first, second = "a" * (SHORTEST + 100) + end.strip(), "b" * LENGTH
        assert passages(f"{first}{end.lstrip('.')}{second}") == [first, second]


def test_nothing_is_lost_between_passages() -> None:
    words = [f"word{number}" for number in range(2_000)]
    parts = passages(" ".join(words))
    assert " ".join(parts).split() == words
    assert all(SHORTEST <= len(part) <= LENGTH for part in parts[:-1])


def test_a_text_without_spaces_is_cut_too_and_a_huge_one_ends() -> None:
    assert [len(part) for part in passages("x y" + "z" * 2_500)] == [1000, 1000, 503]
    assert len(passages("some words " * 100_000)) == MOST


def test_a_digest_tells_texts_apart_even_with_halves_of_surrogate_pairs() -> None:
    assert digest("one two") != digest("one three")
    assert digest("\ud800 two") == digest("\ud800 two")
