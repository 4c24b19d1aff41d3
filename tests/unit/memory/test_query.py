"""The query reader takes anything a person can type or paste."""

from __future__ import annotations

import re

import tantivy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from navi.memory.ingest.write import tantivy_writer
from navi.memory.read.full_text import WORDS_TOKENIZER
from navi.memory.read.query import (
    MOST_CLAUSES,
    Clause,
    _clause,
    _clauses,
    _word_clauses,
    build_query,
    read_query,
)
from navi.memory.read.snippets import snippet
from navi.memory.words import FOLDED_ANALYZER, encodable


def small_index() -> tantivy.Index:
    index = tantivy.Index(tantivy_writer.schema())
    index.register_tokenizer(WORDS_TOKENIZER, FOLDED_ANALYZER)
    writer = index.writer(15_000_000, 1)
    document = {"text": "a red apple", "parts": "red apple", "session": 1, "what": 0}
    writer.add_document(tantivy.Document.from_dict(document, tantivy_writer.schema()))
    writer.commit()
    index.reload()
    return index


INDEX = small_index()
PIECES = st.sampled_from(
    ['"', "-", "*", "--", '-"', '*"', " ", "OR", "AND", "(", ")", "~", "^", ":", "\\", "/", "+",
     "apple", "apple*", "-apple", "😀", "👩‍👩‍👧", "\x00", "\ud800", "ﬁ", "İ", "ß", "登录", "\u0308",
     "[a TO b]", "text:apple", "{", "}", "'", "`", ".*", "a" * 300]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=30).map("".join)))
@example('"' * 5000)
@example("-" * 10_000)
@example("*" * 10_000)
@example("apple " * 2000)
@example("x" * 70_000 + "*")
@example("".join(chr(code) for code in range(0x20, 0x2000)))
@example("😀 " * 3000)
def test_any_text_is_a_query_and_never_an_error(text: str) -> None:
    clauses = read_query(text)
    assert len(clauses) <= MOST_CLAUSES
    searcher = INDEX.searcher()
    for needs_all in (True, False):
        query = build_query(INDEX.schema, clauses, tantivy.Query.all_query(), needs_all=needs_all)
        searcher.search(query, 10)
    excerpt = snippet("a red apple " + text, clauses)
    assert all(0 <= start < end <= len(excerpt.text) for start, end in excerpt.highlights)


def test_words_phrases_beginnings_and_exclusions_are_told_apart() -> None:
    assert read_query('fix "red apple" app* -green -"old tree"') == [
        Clause(("fix",), "fix"),
        Clause(("red", "apple"), "red apple", is_quoted=True),
        Clause(("app",), "app*", is_prefix=True),
        Clause(("green",), "green", is_excluded=True),
        Clause(("old", "tree"), "old tree", is_excluded=True, is_quoted=True),
    ]


@given(st.one_of(st.text('" -a\n', max_size=20), st.lists(PIECES, max_size=30).map("".join)))
def test_phrases_and_words_are_those_of_this_pattern(text: str) -> None:
    text = encodable(text)
    tokens = [match.groups() for match in re.finditer(r'(-?)"([^"]*)"?|(\S+)', text)]
    expected: list[Clause | None] = []
    for sign, phrase, word in tokens:
        if word is None:
            expected.append(_clause(phrase, is_excluded=bool(sign), is_quoted=True))
        else:
            expected += [each for each in _word_clauses(word) if each is None or not each.is_emoji]
    clauses = [each for each in _clauses(text) if each is not None and not each.is_emoji]
    assert clauses == [each for each in expected if each is not None]


def test_emoji_must_match_along_with_the_words() -> None:
    assert read_query("moon🌙 -🎉") == [
        Clause(("moon",), "moon🌙"),
        Clause(("🌙",), "moon🌙", is_emoji=True),
        Clause(("🎉",), "🎉", is_excluded=True, is_emoji=True),
    ]


def test_a_quote_without_its_end_goes_to_the_end() -> None:
    assert [clause.words for clause in read_query('say "red apple')] == [("say",), ("red", "apple")]


def test_an_option_is_a_word_and_no_exclusion() -> None:
    (clause,) = read_query("--force-with-lease")
    assert (clause.words, clause.is_excluded) == (("force", "with", "lease"), False)


def test_repeated_words_count_once() -> None:
    assert len(read_query("apple apple apple")) == 1
