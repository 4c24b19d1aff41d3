"""Colours the code blocks of a Markdown text, for a terminal."""

from __future__ import annotations

import io
import re

from rich.console import Console
from rich.syntax import Syntax

_BLOCKS = re.compile(r"(```([\w+#.-]*)[^\n]*\n)(.*?)(\n```|\Z)", re.DOTALL)


def coloured(text: str) -> str:
    return _BLOCKS.sub(
        lambda match: match[1] + _coloured_block(match[2], match[3]) + match[4], text
    )


def _coloured_block(language: str, code: str) -> str:
    buffer = io.StringIO()
    console = Console(file=buffer, force_terminal=True, width=10_000)
    highlighted = Syntax("", language or "text", theme="ansi_dark").highlight(code)
    console.print(highlighted, soft_wrap=True)
    return buffer.getvalue().rstrip("\n")
