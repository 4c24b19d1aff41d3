"""The help texts of the keys. `bindings.py` binds them."""

from __future__ import annotations

Rows = tuple[tuple[str, str], ...]
"""Keys and what they do."""


def key_help(prints: bool) -> Rows:
    """Every key. Letters with Alt or Ctrl are for keyboards without function keys."""
    return (
        ("letters", "search titles and contents; filters such as agent:codex work too"),
        ("Enter", "print the session's id" if prints else "resume the session in its folder"),
        ("↑ ↓  Ctrl-P Ctrl-N", "select another session"),
        ("PageUp PageDown", "go a page up or down"),
        ("Ctrl-Home Ctrl-End", "go to the first or the last session"),
        ("Shift-↑ Shift-↓", "scroll the preview"),
        ("F2  Alt-A", "show the next agent's sessions, or all"),
        ("F3  Alt-P", "show this project's sessions, or all"),
        ("F4  Alt-T", "show sessions from today, the last 7 or 30 days, or all"),
        ("F5  Alt-W", "wake the session in Navi later"),
        ("F6  Ctrl-Y", "copy the session's id"),
        ("F7  Ctrl-O", "open the session on Navi's page"),
        ("Ctrl-U", "clear the query"),
        ("F1  ?", "show or hide these keys; ? works only while the query is empty"),
        ("Esc  Ctrl-C", "quit"),
    )


def hints(prints: bool) -> Rows:
    """The keys in the last line, most important first."""
    return (
        ("Enter", "choose" if prints else "resume"),
        ("F5", "wake"),
        ("F6", "copy id"),
        ("F7", "page"),
        ("F1", "keys"),
        ("Esc", "quit"),
    )
