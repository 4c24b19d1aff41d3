"""The piece of a text that shows why it was found."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from navi.memory.read.query import Clause
from navi.memory.words import is_unspaced

LENGTH = 220
MOST_MATCHES = 500
LONGEST_LOOKED_AT = 2_000_000


class Snippet(NamedTuple):
    text: str
    highlights: tuple[tuple[int, int], ...]
    """Where the words looked for stand in `text`."""


def snippet(text: str, clauses: Sequence[Clause], length: int = LENGTH) -> Snippet:
    """One line of about `length` characters, around as many of the words as possible."""
    wanted = [clause for clause in clauses if not clause.is_excluded]
    places = _places(text, wanted)
    start, end = _window(text, places, length)
    return _one_line(text, start, end, [place for place in places if start <= place[0] < end])


def has_all(text: str, clauses: Sequence[Clause]) -> bool:
    """Whether the text matches a query, as a search would find it."""
    return all(bool(_places(text, [clause])) != clause.is_excluded for clause in clauses)


def _places(text: str, clauses: Sequence[Clause]) -> list[tuple[int, int]]:
    if not clauses:
        return []
    folded = _folded(text[:LONGEST_LOOKED_AT])
    # Found inside a longer word, such as an identifier, only if nowhere on its own.
    return _matches(folded, clauses, True) or _matches(folded, clauses, False)


def _matches(folded: str, clauses: Sequence[Clause], is_whole: bool) -> list[tuple[int, int]]:
    pattern = re.compile("|".join(_pattern(clause, is_whole=is_whole) for clause in clauses))
    found: list[tuple[int, int]] = []
    for match in pattern.finditer(folded):
        start, end = match.span()
        # Looked at here: a pattern that looks back itself is ten times as slow.
        if is_whole and start and folded[start - 1].isalnum() and match.lastindex is None:
            continue
        found.append((start, end))
        if len(found) == MOST_MATCHES:
            break
    return found


def _pattern(clause: Clause, *, is_whole: bool) -> str:
    words = r"[\W_]*".join(map(re.escape, clause.words))
    if not is_whole:
        return words
    if is_unspaced(clause.given):
        return f"({words})"  # a group: where it begins does not matter
    return words if clause.is_prefix else rf"{words}(?![^\W_])"


def _window(text: str, places: list[tuple[int, int]], length: int) -> tuple[int, int]:
    """The stretch with the most matches; the beginning if there are none."""
    if not places:
        return 0, min(len(text), length)
    best, most, last = 0, 0, 0
    for first in range(len(places)):
        while last < len(places) and places[last][1] - places[first][0] <= length:
            last += 1
        if last - first > most:
            best, most = first, last - first
    begin = places[best][0]
    finish = max(places[best][1], places[best + max(most, 1) - 1][1])
    margin = max(0, length - (finish - begin)) // 2
    start = max(0, begin - margin)
    end = min(len(text), start + length)
    start = max(0, min(start, end - length))
    return _at_a_space(text, start, begin), max(end, min(finish, start + length))


def _at_a_space(text: str, start: int, begin: int) -> int:
    if start == 0:
        return 0
    space = text.find(" ", start, min(start + 20, begin))
    return start if space < 0 else space + 1


def _one_line(text: str, start: int, end: int, places: list[tuple[int, int]]) -> Snippet:
    pieces: list[str] = ["…"] if start > 0 else []
    length = len(pieces)
    highlights: list[tuple[int, int]] = []
    position = start
    for first, last in [*places, (end, end)]:
        last = min(last, end)
        if first < position:
            continue
        before = _flat(text[position:first])
        pieces.append(before)
        length += len(before)
        shown = _flat(text[first:last])
        if shown:
            highlights.append((length, length + len(shown)))
        pieces.append(shown)
        length += len(shown)
        position = last
    if end < len(text):
        pieces.append("…")
    return Snippet("".join(pieces), tuple(highlights))


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)


class _Folds(dict[int, str]):
    """A character -> what the index takes it for, one for one, so that places stay the same."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        plain = unicodedata.normalize("NFKD", character)[:1].lower()
        self[code] = plain if len(plain) == 1 else character
        return self[code]


_folds = _Folds()


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(_folds)
