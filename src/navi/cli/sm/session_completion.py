"""Completes the names of sessions in a shell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_ONE_WORD = re.compile(r"[\w.@+:,/-]+")
"""A name that needs no quotes in any shell."""


def complete_session(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Complete a session's name, or its id if the name is ambiguous or needs quotes."""
    from collections import Counter

    from click.shell_completion import CompletionItem

    from navi.base.errors import NaviError
    from navi.cli.sm.lines import plain
    from navi.client import Client, find_server

    try:
        sessions = Client(find_server()).sessions()
    except (NaviError, OSError):
        return []  # a shell can't show errors
    counts = Counter(each["title"] for each in sessions)
    items = []
    for each in sessions:
        title = each["title"]
        is_clear = counts[title] == 1 and _ONE_WORD.fullmatch(title)
        value = title if is_clear else each["id"]
        if value.lower().startswith(incomplete.lower()):
            help_text = each["state"] if is_clear else plain(title)
            items.append(CompletionItem(value, help=help_text))
    return items
