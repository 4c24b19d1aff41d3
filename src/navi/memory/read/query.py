"""What a person typed into the search box -> what is looked for. Reads anything, refuses nothing.

`words` are all wanted, `"a phrase"` in this order, `begin*` as a beginning, `-word` not at all.
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
    humps,
    is_unspaced,
    spaced,
    words_of,
)

MOST_CLAUSES = 50
"""A pasted page is searched for by its beginning."""
MOST_WORDS = 50
"""In one phrase."""
LONGEST_BEGINNING = 100
"""Bytes. Patterns can't be any length, and nobody types that much of a word to leave the rest."""
OTHER_SPELLING = 0.5
"""A word found inside another, or written otherwise, counts less than the word itself."""


class Clause(NamedTuple):
    words: tuple[str, ...]
    """As the index has them; more than one have to stand side by side."""
    given: str
    is_prefix: bool = False
    is_excluded: bool = False
    is_quoted: bool = False
    is_emoji: bool = False
    """The words are single emoji, as they were typed."""


def read_query(text: str) -> list[Clause]:
    """Without what holds no letter, digit or emoji, and without repetitions."""
    found: dict[Clause, None] = {}
    for clause in _clauses(composed(encodable(text))):
        if clause is not None:
            found[clause] = None
        if len(found) == MOST_CLAUSES:
            break
    return list(found)


def build(
    schema: Schema, clauses: list[Clause], everything: Query, *, needs_all: bool = True
) -> Query:
    """`everything` is where a question that only leaves out starts from."""
    wanted = Occur.Must if needs_all else Occur.Should
    parts = [
        (Occur.MustNot if clause.is_excluded else wanted, _query(schema, clause))
        for clause in clauses
    ]
    if all(clause.is_excluded for clause in clauses):
        parts.append((Occur.Must, everything))
    return Query.boolean_query(parts)


def _clauses(text: str) -> Iterator[Clause | None]:
    """Phrases, to their second quotation mark or to the end, and words, to the next space."""
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
            yield from _word(text[start:end])
            start = end


def _word(word: str) -> Iterator[Clause | None]:
    is_excluded = len(word) > 1 and word[0] == "-" and word[1] != "-"
    given = word[1:] if is_excluded else word
    # `foo"bar` is not a phrase that begins in the middle of a word.
    yield _clause(given, is_excluded=is_excluded, is_prefix=given.endswith("*"))
    yield _emoji_clause(given, is_excluded=is_excluded)


def _clause(
    given: str, *, is_excluded: bool = False, is_prefix: bool = False, is_quoted: bool = False
) -> Clause | None:
    words = tuple(words_of(given)[:MOST_WORDS])
    return Clause(words, given, is_prefix, is_excluded, is_quoted) if words else None


def _emoji_clause(given: str, *, is_excluded: bool) -> Clause | None:
    emoji = tuple(emoji_in(given)[:MOST_WORDS])
    return Clause(emoji, given, is_excluded=is_excluded, is_emoji=True) if emoji else None


def _query(schema: Schema, clause: Clause) -> Query:
    if clause.is_emoji:
        return _stretch(schema, "parts", tuple(map(emoji_word, clause.words)), False)
    choices = [_stretch(schema, "text", clause.words, clause.is_prefix)]
    others: list[Query] = []
    if is_unspaced(clause.given):
        characters = tuple(words_of(spaced(clause.given))[:MOST_WORDS])
        others.append(_stretch(schema, "parts", characters, False))
    elif not clause.is_quoted:
        others += _other_spellings(schema, clause)
    choices += [Query.boost_query(query, OTHER_SPELLING) for query in others]
    return choices[0] if len(choices) == 1 else Query.disjunction_max_query(choices)


def _other_spellings(schema: Schema, clause: Clause) -> list[Query]:
    """`handler` in `AuthHandler`, `AuthHandler` for `auth_handler` and back, `v2.1` for `2.1`."""
    words = clause.words
    if len(words) == 1:
        found = [_stretch(schema, "parts", words, clause.is_prefix)]
        inner = tuple(words_of(humps(clause.given.rstrip("*"))))
        if len(inner) > 1:
            found.append(_stretch(schema, "text", inner, clause.is_prefix))
        return found
    if words[0].isdigit():
        return [_stretch(schema, "text", (f"v{words[0]}", *words[1:]), clause.is_prefix)]
    if all(sign.isalnum() or sign in "_-" for sign in clause.given.removesuffix("*")):
        return [_stretch(schema, "text", ("".join(words),), clause.is_prefix)]
    return []


def _stretch(schema: Schema, field: str, words: tuple[str, ...], is_prefix: bool) -> Query:
    """Words side by side, the last one perhaps only begun."""
    if not is_prefix or len(words[-1].encode()) > LONGEST_BEGINNING:
        if len(words) == 1:
            return Query.term_query(schema, field, words[0])
        return Query.phrase_query(schema, field, list(words))
    # Words hold letters and digits only, so there is nothing to escape.
    begun = f"{words[-1]}.*"
    if len(words) == 1:
        return Query.regex_query(schema, field, begun)
    return Query.regex_phrase_query(schema, field, [*words[:-1], begun])
