"""The picker's screen as prompt_toolkit windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout import (
    BufferControl,
    Dimension,
    DynamicContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    VSplit,
    Window,
)
from prompt_toolkit.styles import Style

from navi.cli.recall.options import clock
from navi.cli.recall.picker import view
from navi.cli.recall.picker.arrangement import Arrangement, arrange
from navi.cli.recall.picker.preview_view import Line

if TYPE_CHECKING:
    from navi.cli.recall.picker.picker import Picker

STYLE = Style.from_dict(
    {
        "faint": "ansibrightblack",
        "age": "ansibrightblack",
        "agent": "ansicyan",
        "place": "ansibrightblack",
        "filter": "bold ansicyan",
        "match": "bold ansiyellow",
        "match-margin": "ansiyellow",
        "selected": "reverse",
    }
)


def layout(picker: Picker) -> Layout:
    line = Window(BufferControl(picker.line), height=1)
    head = VSplit(
        [
            _one_line(lambda: [("bold", view.label(picker.state))]),
            line,
            _one_line(lambda: view.count(picker.state)),
        ]
    )
    sessions = _block(
        picker,
        lambda: view.session_lines(picker.state, clock().now()),
        lambda division: (division.list_width, division.list_height),
    )
    preview = _block(
        picker,
        lambda: view.preview_lines(picker.state)[0],
        lambda division: (division.preview_width, division.preview_height),
    )
    border = _block(picker, lambda: view.border(picker.state), _border_size)
    beside = VSplit([sessions, border, preview])
    below = HSplit([sessions, border, preview])
    keys = _window(lambda: view.key_lines(picker.state))

    def body() -> VSplit | HSplit | Window:
        if picker.state.shows_keys:
            return keys
        return beside if _division(picker).is_beside else below

    filters = _window(lambda: [view.filters(picker.state, picker.here)], height=1)
    last_line = _window(lambda: [view.last_line(picker.state)], height=1)
    root = HSplit([head, filters, DynamicContainer(body), last_line])
    return Layout(root, focused_element=line)


def _block(
    picker: Picker,
    lines: Callable[[], list[Line]],
    size: Callable[[Arrangement], tuple[int, int]],
) -> Window:
    """A window that takes its size from the arrangement."""
    return Window(
        FormattedTextControl(lambda: _fragments(view.joined(lines()))),
        width=lambda: Dimension.exact(size(_division(picker))[0]),
        height=lambda: Dimension.exact(size(_division(picker))[1]),
    )


def _border_size(division: Arrangement) -> tuple[int, int]:
    if division.is_beside:
        return 1, division.preview_height
    return division.preview_width, 1 if division.preview_height else 0


def _division(picker: Picker) -> Arrangement:
    return arrange(picker.state.columns, picker.state.lines)


def _window(lines: Callable[[], list[Line]], height: int | None = None) -> Window:
    return Window(FormattedTextControl(lambda: _fragments(view.joined(lines()))), height=height)


def _one_line(line: Callable[[], Line]) -> Window:
    control = FormattedTextControl(lambda: _fragments(line()))
    return Window(control, height=1, dont_extend_width=True)


def _fragments(line: Line) -> StyleAndTextTuples:
    return [*line]
