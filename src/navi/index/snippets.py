"""The piece of a text that shows why it was found."""

from __future__ import annotations

from navi.domain.light_typing import NamedTuple
from navi.index.words import is_unspaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from navi.index.query import Clause

LENGTH = 220
MOST_MATCHES = 500
SHORT = 20_000
"""Characters. Twenty texts like that are looked through before regular expressions are loaded."""
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


def _places(text: str, clauses: Sequence[Clause]) -> list[tuple[int, int]]:
    if not clauses:
        return []
    folded = _folded(text[:LONGEST_LOOKED_AT])
    look = by_hand if len(folded) <= SHORT else by_pattern
    # Found inside a longer word, such as an identifier, only if nowhere on its own.
    return look(folded, clauses, True) or look(folded, clauses, False)


def by_hand(folded: str, clauses: Sequence[Clause], is_whole: bool) -> list[tuple[int, int]]:
    """The matches, as `by_pattern` has them: a test holds both to the same."""
    found: list[tuple[int, int]] = []
    ahead = {clause: _next(folded, clause, 0, is_whole) for clause in clauses}
    while len(found) < MOST_MATCHES:
        places = {clause: place for clause, place in ahead.items() if place is not None}
        if not places:
            break
        # Of several that begin at the same place it is the clause that was given first.
        clause = min(places, key=lambda each: places[each][0])
        start, end = places[clause]
        if not (is_whole and start and folded[start - 1].isalnum()) or is_unspaced(clause.given):
            found.append((start, end))
        for each, place in places.items():
            if place[0] < end:
                ahead[each] = _next(folded, each, end, is_whole)
    return found


def _next(folded: str, clause: Clause, position: int, is_whole: bool) -> tuple[int, int] | None:
    """Where the clause stands next; `is_whole`: with no longer word at its end."""
    may_go_on = not is_whole or clause.is_prefix or is_unspaced(clause.given)
    first, *others = clause.words
    start = folded.find(first, position)
    while start >= 0:
        end = _end(folded, others, start + len(first))
        if end is not None and (may_go_on or not folded[end : end + 1].isalnum()):
            return start, end
        start = folded.find(first, start + 1)
    return None


def _end(folded: str, words: Sequence[str], end: int) -> int | None:
    """Where the words end that follow side by side; None if they don't."""
    for word in words:
        while not folded.startswith(word, end):
            if end == len(folded) or folded[end].isalnum():
                return None
            end += 1
        end += len(word)
    return end


def by_pattern(folded: str, clauses: Sequence[Clause], is_whole: bool) -> list[tuple[int, int]]:
    """The same for long texts, in which there may be a million places to look at."""
    import re

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
    import re

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
    """With one space for every run of blanks, at the ends too."""
    if not text:
        return ""
    before, after = " " * text[0].isspace(), " " * text[-1].isspace()
    words = " ".join(text.split())
    return before + words + after if words else " "


class _Folds(dict[int, str]):
    """A character -> what the index takes it for, one for one, so that places stay the same."""

    def __missing__(self, code: int) -> str:
        import unicodedata

        character = chr(code)
        plain = unicodedata.normalize("NFKD", character)[:1].lower()
        self[code] = plain if len(plain) == 1 else character
        return self[code]


_folds = _Folds()


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(_folds)
