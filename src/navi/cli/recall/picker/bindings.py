"""Binds keys to functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from navi.base.control_characters import one_line
from navi.cli.recall.picker import updates
from navi.cli.recall.picker.state import PickerState

if TYPE_CHECKING:
    from navi.cli.recall.picker.picker import Picker

UPDATES: dict[tuple[str, ...], Callable[[PickerState], PickerState]] = {
    ("up",): lambda state: updates.move(state, -1),
    ("c-p",): lambda state: updates.move(state, -1),
    ("down",): lambda state: updates.move(state, 1),
    ("c-n",): lambda state: updates.move(state, 1),
    ("pageup",): lambda state: updates.move_pages(state, -1),
    ("pagedown",): lambda state: updates.move_pages(state, 1),
    ("c-home",): updates.move_to_first,
    ("c-end",): updates.move_to_last,
    ("f1",): updates.toggle_keys,
    ("f2",): updates.next_agent,
    ("escape", "a"): updates.next_agent,
    ("f3",): updates.toggle_project,
    ("escape", "p"): updates.toggle_project,
    ("f4",): updates.next_period,
    ("escape", "t"): updates.next_period,
}
"""Keys that only change the state."""


def bindings(picker: Picker) -> KeyBindings:
    keys = KeyBindings()
    for sequence, update in UPDATES.items():
        keys.add(*sequence)(_updating(picker, update))
    for sequence, act in _actions(picker).items():
        keys.add(*sequence)(_calling(act))

    @keys.add("?")
    def _(event: KeyPressEvent) -> None:
        if picker.line.text:
            picker.line.insert_text("?")
        else:
            picker.update(updates.toggle_keys(picker.state))

    @keys.add(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        picker.line.insert_text(one_line(event.data))

    return keys


def _actions(picker: Picker) -> dict[tuple[str, ...], Callable[[], None]]:
    """Keys that do more than change the state."""
    return {
        ("enter",): picker.enter,
        ("escape",): picker.escape,
        ("c-c",): picker.quit,
        ("<sigint>",): picker.quit,
        ("c-u",): picker.clear,
        ("s-up",): lambda: picker.scroll_preview(-1),
        ("s-down",): lambda: picker.scroll_preview(1),
        ("f5",): picker.ask_when,
        ("escape", "w"): picker.ask_when,
        ("f6",): picker.copy_id,
        ("c-y",): picker.copy_id,
        ("f7",): picker.open_page,
        ("c-o",): picker.open_page,
    }


def _updating(
    picker: Picker, update: Callable[[PickerState], PickerState]
) -> Callable[[KeyPressEvent], None]:
    def handle(event: KeyPressEvent) -> None:
        # While a dialog is open, its session stays selected.
        if picker.state.dialog is None:
            picker.update(update(picker.state))

    return handle


def _calling(act: Callable[[], None]) -> Callable[[KeyPressEvent], None]:
    def handle(event: KeyPressEvent) -> None:
        act()

    return handle
