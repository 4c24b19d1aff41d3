"""Maps another machine's folders to folders on this one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

PathMap = Sequence[tuple[str, str]]
"""Pairs of absolute folders: on the other machine, and here."""

# A match may not begin inside a longer path, nor end inside the name of a folder.
_BEFORE, _AFTER = r"(?<![\w./~-])", r"(?![\w.~-])"


def mapper(pairs: PathMap) -> Callable[[str], str]:
    """A function that maps the paths in a text; the longest folder that matches wins."""
    if not pairs:
        return lambda text: text
    here = {there.rstrip("/"): folder.rstrip("/") for there, folder in pairs}
    folders = sorted(here, key=len, reverse=True)
    pattern = re.compile(f"{_BEFORE}({'|'.join(map(re.escape, folders))}){_AFTER}")
    return lambda text: pattern.sub(lambda match: here[match[1]], text)


def read_pair(text: str) -> tuple[str, str] | None:
    """`/srv/ada=/work/ada` as a pair; None if it isn't two absolute folders."""
    there, is_pair, here = text.partition("=")
    if not is_pair or not all(_is_folder(each) for each in (there, here)):
        return None
    return there.rstrip("/"), here.rstrip("/")


def _is_folder(path: str) -> bool:
    return path.startswith("/") and path.strip("/") != "" and path.isprintable()
