"""The server's hints in the words of the command line."""

from __future__ import annotations

IN_SM_WORDS = {
    "GET /sessions lists": "`sm status` lists",
    "with POST /sessions": "with `sm spawn`",
    "leave out the reminder, or POST /scheduler/remind to send a text once, later": (
        'leave out --remind; `sm remind 5m "TEXT" --to SESSION` sends a text once, later'
    ),
}


def in_sm_words(hint: str) -> str:
    for call, command in IN_SM_WORDS.items():
        hint = hint.replace(call, command)
    return hint
