"""Masks keys, tokens and passwords in everything that the memory shows.

Each row of the tables carries the example that proves it. A search for fixed strings decides which
patterns to try, so text without secrets costs little more than reading it, and the patterns, which
are slow to compile, are compiled only when needed. Every pattern takes linear time: either its
matches have a bounded length, or none can begin inside another.

Not masked, on purpose: keys that are public by design (PostHog's `phc_`, Stripe's `pk_`, the key in
a Sentry URL), hashes, and all-letter passwords in a sentence, which look like any other word.
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

DEPTH_LIMIT = 100
"""Levels of nested JSON to search. A text with more levels is masked as plain text."""
SECRET_NAMES = ("key", "secret", "pass", "pwd", "token", "credential", "auth", "cookie")
"""Every name that marks its value as a secret contains one of these."""
KINDS: tuple[SecretKind, ...] = (*TOKENS, *ARGUMENTS, *PLACES)


def mask(text: str) -> str:
    """The text with every secret replaced by `[masked: …]`; the same object if it has none.

    Colour codes can split a secret, as with `grep --color`. Such a text loses its control
    characters here: if they were removed only for display, the secret would reappear.
    """
    masked = _mask_as_is(text)
    cleaned = without_control_characters(masked)
    if cleaned is masked:
        return masked
    joined = _mask_as_is(cleaned)
    return masked if joined is cleaned else joined


def _mask_as_is(text: str) -> str:
    for kind in _kinds_in(text):
        masked = kind.pattern.sub(_replacer(kind), text)
        text = text if masked == text else masked
    return text


@overload
def masked(text: str) -> str: ...
@overload
def masked(text: None) -> None: ...
@overload
def masked(text: str | None) -> str | None: ...
def masked(text: str | None) -> str | None:
    """`mask` for a text that may be None."""
    return None if text is None else mask(text)


def masked_json(text: str | None) -> Any:
    """The value of a JSON text with its secrets masked. A text that isn't JSON stays a text."""
    if text is None:
        return None
    masked = mask(text)
    try:
        # Mask each value, because quotes and line ends are escaped in the whole text.
        value = _masked_values(json.loads(text))
    except (ValueError, RecursionError):
        return masked
    if masked is text:
        return value
    # Then mask the whole, because a value may be marked as a secret only by its neighbours.
    whole = mask(json.dumps(value, ensure_ascii=False))
    try:
        return json.loads(whole)
    except ValueError:  # a mask replaced a quote
        return whole


def _masked_values(value: Any, key: str = "", depth: int = 0) -> Any:
    if depth > DEPTH_LIMIT:
        raise RecursionError
    if isinstance(value, str):
        return _masked_value(value, key, depth)
    if isinstance(value, list):
        return [_masked_values(item, key, depth + 1) for item in value]
    if isinstance(value, dict):
        return {mask(name): _masked_values(item, name, depth + 1) for name, item in value.items()}
    return value


def _masked_value(text: str, key: str, depth: int) -> str:
    masked = mask(text)
    if text.startswith(("{", "[")):
        return _masked_nested_json(masked, depth)
    if masked is not text or '"' in text or not any(name in key.lower() for name in SECRET_NAMES):
        return masked
    start = f'"{key}": "'
    pair = mask(f'{start}{text}"')
    return pair[len(start) : -1] if pair.startswith(start) else masked


def _masked_nested_json(text: str, depth: int) -> str:
    """JSON inside JSON, masked; the same object if it has no secret."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    masked = _masked_values(value, depth=depth + 1)
    return text if masked == value else json.dumps(masked, ensure_ascii=False)


def _kinds_in(text: str) -> list[SecretKind]:
    """The kinds that may be in the text, judging by strings they always contain."""
    words, lower = _long_words(text), _lower(text)
    indexes = _tokens_in(words) if words else []
    for part, needles in ((words, _IN_WORDS), (text, _IN_TEXT), (lower, _IN_LOWER)):
        candidates = {index for needle in needles if needle in part for index in needles[needle]}
        indexes += [index for index in candidates if KINDS[index].may_be_in(part)]
    return [KINDS[index] for index in sorted(indexes)]


def _tokens_in(words: str) -> list[int]:
    """Indexes in KINDS of the tokens that may be in these words. Faster than searching for each."""
    pieces = set(
        words.encode("ascii", "replace").translate(_PUNCTUATION_TO_SPACE).decode("ascii").split()
    )
    candidates = {
        index
        for piece in pieces
        for prefix, index in _BY_PREFIX.get(piece[:2], ())
        if piece.startswith(prefix)
    }
    return [index for index in candidates if KINDS[index].may_be_in(words)]


def _long_words(text: str) -> str:
    """The words that are long enough to be tokens; most texts have few."""
    return " ".join([word for word in text.split() if len(word) >= SHORTEST_WORD])


def _lower(text: str) -> str:
    """Lower case, as a pattern that ignores case sees it."""
    if text.isascii():
        return text.lower()
    return text.replace("İ", "i").lower().replace("ſ", "s").replace("ı", "i")


# A translation table that turns every byte which can't be in a token into a space.
_PUNCTUATION_TO_SPACE = bytes(
    code if code < 128 and (chr(code).isalnum() or code in b"_-") else 32 for code in range(256)
)
_BY_PREFIX: dict[str, list[tuple[str, int]]] = {}
"""By first two characters: prefixes, cut at their first punctuation, and their index in KINDS."""
# The needles to search for in the long words, in the text and in the lower-case text. Each maps to
# the indexes in KINDS of the kinds that have it.
_IN_WORDS: dict[str, list[int]] = {}
_IN_TEXT: dict[str, list[int]] = {}
_IN_LOWER: dict[str, list[int]] = {}


def _index_needles() -> None:
    for index, kind in enumerate(KINDS):
        needles = _IN_WORDS if kind.is_one_word else _IN_LOWER if kind.ignores_case else _IN_TEXT
        for needle in kind.needles:
            if kind.begins_words:
                prefix = needle.encode().translate(_PUNCTUATION_TO_SPACE).split(b" ")[0].decode()
                _BY_PREFIX.setdefault(prefix[:2], []).append((prefix, index))
            else:
                needles.setdefault(needle, []).append(index)


_index_needles()


def _replacer(kind: SecretKind) -> Callable[[re.Match[str]], str]:
    def replace(match: re.Match[str]) -> str:
        if kind.is_secret is not None and not kind.is_secret(match):
            return match[0]
        if "secret" not in kind.pattern.groupindex:
            return f"[masked: {kind.name}]"
        if match["secret"].startswith("[masked"):
            return match[0]
        start, stop = (position - match.start() for position in match.span("secret"))
        return f"{match[0][:start]}[masked: {kind.name}]{match[0][stop:]}"

    return replace
