"""Parses a search query. Any text is a valid query.

All words must match; `"a phrase"` matches its words in that order; `prefix*` matches words that
begin with it; `-word` excludes texts that contain the word.

Filters such as `agent:codex` were already taken out by `query_filters`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tantivy import Occur, Query, Schema

from navi.memory.words import (
    composed,
    emoji_in,
    emoji_word,
    encodable,
    has_unspaced,
    spaced,
    split_camel_case,
    words_of,
)

MOST_CLAUSES = 50
"""Enough for the first lines of a pasted page."""
MOST_WORDS = 50
"""Per phrase."""
LONGEST_PREFIX = 100
"""In bytes. Longer prefixes are searched as whole words, because patterns have a size limit."""
OTHER_SPELLING = 0.5
"""The score of a match inside another word, or of another spelling, relative to the word itself."""


class Clause(NamedTuple):
    words: tuple[str, ...]
    """As in the index. If there are several, they must be adjacent."""
    text: str
    """As it was typed."""
    is_prefix: bool = False
    is_excluded: bool = False
    is_quoted: bool = False
    is_emoji: bool = False
    """The words are single emoji as typed."""


def read_query(text: str) -> list[Clause]:
    """The clauses of a query, each once. Ignores text without letters, digits or emoji."""
    clauses: dict[Clause, None] = {}
    for clause in _clauses(composed(encodable(text))):
        if clause is not None:
            clauses[clause] = None
        if len(clauses) == MOST_CLAUSES:
            break
    return list(clauses)


def build_query(
    schema: Schema,
    clauses: list[Clause],
    everything: Query,
    *,
    needs_all: bool = True,
    fewest: int | None = None,
) -> Query:
    """The query for texts that match all clauses; if not `needs_all`, any of them, or at least
    `fewest`.

    If all clauses exclude, they are subtracted from `everything`, which matches all texts.
    """
    occurrence = Occur.Must if needs_all else Occur.Should
    subqueries = [
        (Occur.MustNot if clause.is_excluded else occurrence, _query(schema, clause))
        for clause in clauses
    ]
    if all(clause.is_excluded for clause in clauses):
        subqueries.append((Occur.Must, everything))
    return Query.boolean_query(subqueries, minimum_number_should_match=fewest)


def _clauses(text: str) -> Iterator[Clause | None]:
    """Phrases up to the second quotation mark or the end, and words up to the next space."""
    start = 0
    while start < len(text):
        if text[start].isspace():
            start += 1
            continue
        is_excluded = text.startswith('-"', start)
        if is_excluded or text[start] == '"':
            start += 2 if is_excluded else 1
            end = text.find('"', start)
            end = len(text) if end < 0 else end
            yield _clause(text[start:end], is_excluded=is_excluded, is_quoted=True)
            yield _emoji_clause(text[start:end], is_excluded=is_excluded)
            start = end + 1
        else:
            end = start
            while end < len(text) and not text[end].isspace():
                end += 1
            yield from _word_clauses(text[start:end])
            start = end


def _word_clauses(word: str) -> Iterator[Clause | None]:
    is_excluded = len(word) > 1 and word[0] == "-" and word[1] != "-"
    text = word[1:] if is_excluded else word
    # The quotation mark in `foo"bar` does not start a phrase.
    yield _clause(text, is_excluded=is_excluded, is_prefix=text.endswith("*"))
    yield _emoji_clause(text, is_excluded=is_excluded)


def _clause(
    text: str, *, is_excluded: bool = False, is_prefix: bool = False, is_quoted: bool = False
) -> Clause | None:
    words = tuple(words_of(text)[:MOST_WORDS])
    return Clause(words, text, is_prefix, is_excluded, is_quoted) if words else None


def _emoji_clause(text: str, *, is_excluded: bool) -> Clause | None:
    emoji = tuple(emoji_in(text)[:MOST_WORDS])
    return Clause(emoji, text, is_excluded=is_excluded, is_emoji=True) if emoji else None


def _query(schema: Schema, clause: Clause) -> Query:
    if clause.is_emoji:
        return _phrase(schema, "parts", tuple(map(emoji_word, clause.words)), False)
    choices = [_phrase(schema, "text", clause.words, clause.is_prefix)]
    others: list[Query] = []
    if has_unspaced(clause.text):
        characters = tuple(words_of(spaced(clause.text))[:MOST_WORDS])
        others.append(_phrase(schema, "parts", characters, False))
    elif not clause.is_quoted:
        others += _other_spellings(schema, clause)
    choices += [Query.boost_query(query, OTHER_SPELLING) for query in others]
    return choices[0] if len(choices) == 1 else Query.disjunction_max_query(choices)


def _other_spellings(schema: Schema, clause: Clause) -> list[Query]:
    """Queries for other spellings.

    `handler` also finds `AuthHandler`; `AuthHandler` finds `auth_handler` and the reverse; `2.1`
    finds `v2.1`.
    """
    words = clause.words
    if len(words) == 1:
        spellings = [_phrase(schema, "parts", words, clause.is_prefix)]
        inner = tuple(words_of(split_camel_case(clause.text.rstrip("*"))))
        if len(inner) > 1:
            spellings.append(_phrase(schema, "text", inner, clause.is_prefix))
        return spellings
    if words[0].isdigit():
        return [_phrase(schema, "text", (f"v{words[0]}", *words[1:]), clause.is_prefix)]
    if all(character.isalnum() or character in "_-" for character in clause.text.removesuffix("*")):
        return [_phrase(schema, "text", ("".join(words),), clause.is_prefix)]
    return []


def _phrase(schema: Schema, field: str, words: tuple[str, ...], is_prefix: bool) -> Query:
    """Adjacent words; the last may be a prefix."""
    if not is_prefix or len(words[-1].encode()) > LONGEST_PREFIX:
        if len(words) == 1:
            return Query.term_query(schema, field, words[0])
        return Query.phrase_query(schema, field, list(words))
    # Words have only letters and digits, so there is nothing to escape.
    prefix = f"{words[-1]}.*"
    if len(words) == 1:
        return Query.regex_query(schema, field, prefix)
    return Query.regex_phrase_query(schema, field, [*words[:-1], prefix])
