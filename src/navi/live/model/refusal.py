"""Describes a tool call in one line, for refusals and for questions about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from navi.base.shortened_text import shortened

LENGTH_LIMIT = 80
INFORMATIVE_ARGUMENTS = (
    "command",
    "cmd",
    "file_path",
    "notebook_path",
    "path",
    "url",
    "query",
    "pattern",
)
"""Arguments that say what a call is about, most informative first."""


def call_in_words(tool: str, arguments: Mapping[str, Any]) -> str:
    """The call in one line, like `Bash(rm -rf build)`."""
    subject = next((arguments[name] for name in INFORMATIVE_ARGUMENTS if arguments.get(name)), None)
    if subject is None:
        subject = next((value for value in arguments.values() if isinstance(value, str)), "")
    words = " ".join(map(str, subject)) if isinstance(subject, list) else str(subject)
    line = shortened(" ".join(words.split()), LENGTH_LIMIT)
    return f"{tool}({line})" if line else tool
