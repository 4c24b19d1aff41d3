"""How the screen is divided: the preview is beside the list if there is room, else below it."""

from __future__ import annotations

from typing import NamedTuple

WIDE = 140
"""How wide the screen must be for a preview beside the list."""
OTHER_LINES = 3
"""The query, the filters and the last line."""
SHORTEST_BODY = 9
"""The fewest lines that list and preview need together; with fewer, there is no preview."""
SHORTEST_LIST = 3


class Arrangement(NamedTuple):
    is_beside: bool
    list_width: int
    list_height: int
    preview_width: int
    preview_height: int
    """0 if there is no preview."""


def arrange(columns: int, lines: int) -> Arrangement:
    body = max(1, lines - OTHER_LINES)
    if columns >= WIDE:
        list_width = columns * 9 // 20
        return Arrangement(True, list_width, body, columns - list_width - 1, body)
    if body < SHORTEST_BODY:
        return Arrangement(False, columns, body, columns, 0)
    list_height = max(SHORTEST_LIST, body * 2 // 5)
    return Arrangement(False, columns, list_height, columns, body - list_height - 1)
