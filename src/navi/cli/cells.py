"""Text measured in a terminal's cells: a Chinese character or an emoji takes two."""

from __future__ import annotations


def width(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut(text: str, room: int, *, keep_end: bool = False) -> str:
    """Cut to at most `room` cells, with … where something was cut off."""
    if width(text) <= room:
        return text
    characters = reversed(text) if keep_end else iter(text)
    visible: list[str] = []
    left = room - 1
    for character in characters:
        left -= width(character)
        if left < 0:
            break
        visible.append(character)
    return "…" + "".join(reversed(visible)) if keep_end else "".join(visible).rstrip() + "…"


def padded(text: str, room: int) -> str:
    return text + " " * (room - width(text))


def line_spans(text: str, first_room: int, room: int) -> list[tuple[int, int]]:
    """Where each line begins and ends when `text`, a single line, is wrapped at spaces.

    The first line has room for `first_room` cells, the others for `room`.
    """
    lines: list[tuple[int, int]] = []
    start, used, line_room, after_space = 0, 0, first_room, 0
    for index, character in enumerate(text):
        size = width(character)
        if character == " ":
            after_space = index + 1
        elif size == 2:  # scripts with wide characters have no spaces
            after_space = max(after_space, index)
        if used + size > line_room and index > start:
            end = after_space if after_space > start else index
            lines.append((start, end))
            start, line_room = end, room
            used = width(text[start:index])
            if end > index:  # the space that ended the line takes no room on the next
                continue
        used += size
    return [*lines, (start, len(text))]
