"""Replaces a text in a file's bytes, so the rest keeps its encoding and line endings."""

from __future__ import annotations

from navi.base.errors import InvalidInput, NotFound


def replace_text(data: bytes, old: bytes, new: bytes, *, replace_all: bool) -> tuple[bytes, int]:
    """The new data, and how often `old` was replaced. Refuses ambiguous edits."""
    if not old:
        raise InvalidInput("old_text is empty", hint="say which text to replace")
    if old == new:
        raise InvalidInput("old_text and new_text are the same", hint="nothing would change")
    if _means_windows_endings(data, old):
        old, new = _with_windows_endings(old), _with_windows_endings(new)
    times = _occurrences(data, old)
    if times == 0:
        raise NotFound(
            "old_text does not occur in the file",
            hint="read the file and copy the text exactly, spaces included",
        )
    if times > 1 and not replace_all:
        raise InvalidInput(
            f"old_text occurs {times} times in the file",
            hint="include more of the lines around it, or set replace_all",
        )
    return data.replace(old, new), data.count(old)


def _means_windows_endings(data: bytes, old: bytes) -> bool:
    r"""Whether \n in `old` means \r\n: the file uses only that, or `old` doesn't match as it is."""
    windows = data.count(b"\r\n")
    return windows > 0 and (windows == data.count(b"\n") or old not in data)


def _with_windows_endings(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def _occurrences(data: bytes, text: bytes) -> int:
    times = data.count(text)
    if times == 1 and data.find(text, data.find(text) + 1) != -1:
        return 2  # overlapping, like "aba" in "ababa": taking the first would be a guess
    return times
