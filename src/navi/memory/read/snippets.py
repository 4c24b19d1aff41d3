"""The part of a text that shows the match."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from navi.memory.read.query import Clause
from navi.memory.words import has_unspaced

LENGTH = 220
MOST_MATCHES = 500
LONGEST_TEXT = 2_000_000


class Snippet(NamedTuple):
    text: str
    highlights: tuple[tuple[int, int], ...]
    """Start and end of each match in `text`."""


def snippet(text: str, clauses: Sequence[Clause], length: int = LENGTH) -> Snippet:
    """One line of about `length` characters with as many matches as possible."""
    spans = matches_in(text, clauses)
    start, end = _window(text, spans, length)
    return _one_line(text, start, end, [span for span in spans if start <= span[0] < end])


def matches_query(text: str, clauses: Sequence[Clause]) -> bool:
    """Whether the text matches the query. Unlike in a search, any part of a word counts."""
    return all(bool(_spans(text, [clause])) != clause.is_excluded for clause in clauses)


def matches_in(text: str, clauses: Sequence[Clause]) -> list[tuple[int, int]]:
    """Start and end of each match."""
    return _spans(text, [clause for clause in clauses if not clause.is_excluded])


def _spans(text: str, clauses: Sequence[Clause]) -> list[tuple[int, int]]:
    if not clauses:
        return []
    folded = fold(text[:LONGEST_TEXT])
    # Parts of longer words, such as identifiers, count only if no whole word matches.
    return _matches(folded, clauses, True) or _matches(folded, clauses, False)


def _matches(
    folded: str, clauses: Sequence[Clause], only_whole_words: bool
) -> list[tuple[int, int]]:
    pattern = re.compile(
        "|".join(_pattern(clause, only_whole_words=only_whole_words) for clause in clauses)
    )
    spans: list[tuple[int, int]] = []
    for match in pattern.finditer(folded):
        start, end = match.span()
        # Checked here, because a look-behind in the pattern is ten times as slow.
        if only_whole_words and start and folded[start - 1].isalnum() and match.lastindex is None:
            continue
        spans.append((start, end))
        if len(spans) == MOST_MATCHES:
            break
    return spans


def _pattern(clause: Clause, *, only_whole_words: bool) -> str:
    words = r"[\W_]*".join(map(re.escape, clause.words))
    if not only_whole_words:
        return words
    if has_unspaced(clause.text):
        return f"({words})"  # a group tells `_matches` that the match may start inside a word
    return words if clause.is_prefix else rf"{words}(?![^\W_])"


def _window(text: str, spans: list[tuple[int, int]], length: int) -> tuple[int, int]:
    """Start and end of the part with the most matches; the text's beginning if there are none."""
    if not spans:
        return 0, min(len(text), length)
    best, best_count, after = 0, 0, 0
    for first in range(len(spans)):
        while after < len(spans) and spans[after][1] - spans[first][0] <= length:
            after += 1
        if after - first > best_count:
            best, best_count = first, after - first
    match_start = spans[best][0]
    match_end = max(spans[best][1], spans[best + max(best_count, 1) - 1][1])
    margin = max(0, length - (match_end - match_start)) // 2
    start = max(0, match_start - margin)
    end = min(len(text), start + length)
    start = max(0, min(start, end - length))
    return _after_a_space(text, start, match_start), max(end, min(match_end, start + length))


def _after_a_space(text: str, start: int, match_start: int) -> int:
    """`start`, or the beginning of the next word if it is near and before the match."""
    if start == 0:
        return 0
    space = text.find(" ", start, min(start + 20, match_start))
    return start if space < 0 else space + 1


def _one_line(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> Snippet:
    pieces: list[str] = ["…"] if start > 0 else []
    length = len(pieces)
    highlights: list[tuple[int, int]] = []
    position = start
    for match_start, match_end in [*spans, (end, end)]:
        match_end = min(match_end, end)
        if match_start < position:
            continue
        before = _flat(text[position:match_start])
        pieces.append(before)
        length += len(before)
        fragment = _flat(text[match_start:match_end])
        if fragment:
            highlights.append((length, length + len(fragment)))
        pieces.append(fragment)
        length += len(fragment)
        position = match_end
    if end < len(text):
        pieces.append("…")
    return Snippet("".join(pieces), tuple(highlights))


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)


class _Folds(dict[int, str]):
    """Folds characters as the index does, but one for one, so that offsets stay the same."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        plain = unicodedata.normalize("NFKD", character)[:1].lower()
        self[code] = plain if len(plain) == 1 else character
        return self[code]


_folds = _Folds()


def fold(text: str) -> str:
    """In lower case and without accents, of the same length."""
    return text.lower() if text.isascii() else text.translate(_folds)
