"""A call that an agent was not allowed to make, in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from navi.base.shortened_text import shortened

LONGEST = 80
TELLING = ("command", "cmd", "file_path", "notebook_path", "path", "url", "query", "pattern")
"""Arguments that say what a call is about, most informative first."""


def call_in_words(tool: str, arguments: Mapping[str, Any]) -> str:
    """Like `Bash(rm -rf build)`."""
    subject = next((arguments[name] for name in TELLING if arguments.get(name)), None)
    if subject is None:
        subject = next((each for each in arguments.values() if isinstance(each, str)), "")
    words = " ".join(map(str, subject)) if isinstance(subject, list) else str(subject)
    line = shortened(" ".join(words.split()), LONGEST)
    return f"{tool}({line})" if line else tool
