"""Keys, tokens and passwords in texts, masked: one list for everything that shows the memory.

Each row of the tables carries the example that proves it. A search for fixed pieces of text decides
which patterns are tried, so a text without secrets costs little more than reading it, and patterns,
which take long to compile, are compiled only when needed. Every pattern takes linear time: it
cannot start inside a run of its own characters, or its length is bounded.

Not masked, on purpose: keys that are public by design (PostHog's `phc_`, Stripe's `pk_`, the key in
an address of Sentry), hashes, and a password of letters only in a sentence, which is like any word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, overload

from navi.base.control_characters import without_control_characters
from navi.base.secrets.secret_arguments import ARGUMENTS
from navi.base.secrets.secret_kind import SHORTEST_WORD, SecretKind
from navi.base.secrets.secret_places import PLACES
from navi.base.secrets.secret_tokens import TOKENS

DEEPEST = 100
"""Levels of JSON that are looked into; deeper ones stay a text."""
TELLING = ("key", "secret", "pass", "pwd", "token", "credential", "auth", "cookie")
"""Every name that marks its value as a secret contains one of these."""
KINDS: tuple[SecretKind, ...] = (*TOKENS, *ARGUMENTS, *PLACES)


def mask(text: str) -> str:
    """The text with `[masked: …]` in the place of every secret; the same object if it has none.

    Colours may cut a secret into pieces, as `grep --color` does. Such a text loses its control
    characters: they would be taken out to show it, and the secret would be whole again.
    """
    masked = _mask(text)
    cleaned = without_control_characters(masked)
    if cleaned is masked:
        return masked
    joined = _mask(cleaned)
    return masked if joined is cleaned else joined


def _mask(text: str) -> str:
    for kind in _kinds_in(text):
        masked = kind.pattern.sub(_masked(kind), text)
        text = text if masked == text else masked
    return text


@overload
def masked(text: str) -> str: ...
@overload
def masked(text: None) -> None: ...
@overload
def masked(text: str | None) -> str | None: ...
def masked(text: str | None) -> str | None:
    """`mask` for what may be missing."""
    return None if text is None else mask(text)


def masked_json(text: str | None) -> Any:
    """The value of a JSON text with its secrets masked; a text that is no JSON stays a text."""
    if text is None:
        return None
    masked = mask(text)
    try:
        # Each value, because in the whole text its quotes and line ends are escaped.
        value = _masked_values(json.loads(text))
    except (ValueError, RecursionError):
        return masked
    if masked is text:
        return value
    # As a whole once more, because a value may be known by its neighbours.
    whole = mask(json.dumps(value, ensure_ascii=False))
    try:
        return json.loads(whole)
    except ValueError:  # a mask took a quote along
        return whole


def _masked_values(value: Any, key: str = "", depth: int = 0) -> Any:
    if depth > DEEPEST:
        raise RecursionError
    if isinstance(value, str):
        return _masked_value(value, key, depth)
    if isinstance(value, list):
        return [_masked_values(each, key, depth + 1) for each in value]
    if isinstance(value, dict):
        return {mask(name): _masked_values(each, name, depth + 1) for name, each in value.items()}
    return value


def _masked_value(text: str, key: str, depth: int) -> str:
    masked = mask(text)
    if text.startswith(("{", "[")):
        return _masked_inner(masked, depth)
    if masked is not text or '"' in text or not any(word in key.lower() for word in TELLING):
        return masked
    start = f'"{key}": "'
    named = mask(f'{start}{text}"')
    return named[len(start) : -1] if named.startswith(start) else masked


def _masked_inner(text: str, depth: int) -> str:
    """JSON inside JSON; the same object if it has no secret."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    masked = _masked_values(value, depth=depth + 1)
    return text if masked == value else json.dumps(masked, ensure_ascii=False)


def _kinds_in(text: str) -> list[SecretKind]:
    """Those that may be in the text, judged by the pieces that they always contain."""
    words, lower = _long_words(text), _lower(text)
    places = _tokens_in(words) if words else []
    for part, needles in ((words, _IN_WORDS), (text, _IN_TEXT), (lower, _IN_LOWER)):
        candidates = {place for needle in needles if needle in part for place in needles[needle]}
        places += [place for place in candidates if KINDS[place].may_be_in(part)]
    return [KINDS[place] for place in sorted(places)]


def _tokens_in(words: str) -> list[int]:
    """The kinds that begin like a piece of these words. Faster than looking for each of them."""
    pieces = set(words.encode("ascii", "replace").translate(_APART).decode("ascii").split())
    candidates = {
        place
        for piece in pieces
        for start, place in _BEGINNINGS.get(piece[:2], ())
        if piece.startswith(start)
    }
    return [place for place in candidates if KINDS[place].may_be_in(words)]


def _long_words(text: str) -> str:
    """A small part of most texts, and the only one in which tokens can be."""
    return " ".join([word for word in text.split() if len(word) >= SHORTEST_WORD])


def _lower(text: str) -> str:
    """As a pattern that ignores case takes it."""
    if text.isascii():
        return text.lower()
    return text.replace("İ", "i").lower().replace("ſ", "s").replace("ı", "i")


# A space for everything but the characters that tokens are made of.
_APART = bytes(
    code if code < 128 and (chr(code).isalnum() or code in b"_-") else 32 for code in range(256)
)
_BEGINNINGS: dict[str, list[tuple[str, int]]] = {}
"""By their first two characters; what follows a dot or another sign is left out."""
_IN_WORDS: dict[str, list[int]] = {}
"""The places of the kinds that a needle belongs to."""
_IN_TEXT: dict[str, list[int]] = {}
_IN_LOWER: dict[str, list[int]] = {}


def _note_needles() -> None:
    for place, kind in enumerate(KINDS):
        places = _IN_WORDS if kind.is_one_word else _IN_LOWER if kind.ignores_case else _IN_TEXT
        for needle in kind.needles:
            if kind.begins_words:
                start = needle.encode().translate(_APART).split(b" ")[0].decode()
                _BEGINNINGS.setdefault(start[:2], []).append((start, place))
            else:
                places.setdefault(needle, []).append(place)


_note_needles()


def _masked(kind: SecretKind) -> Callable[[re.Match[str]], str]:
    def replace(match: re.Match[str]) -> str:
        if kind.is_secret is not None and not kind.is_secret(match):
            return match[0]
        if "secret" not in kind.pattern.groupindex:
            return f"[masked: {kind.name}]"
        if match["secret"].startswith("[masked"):
            return match[0]
        start, stop = (place - match.start() for place in match.span("secret"))
        return f"{match[0][:start]}[masked: {kind.name}]{match[0][stop:]}"

    return replace
