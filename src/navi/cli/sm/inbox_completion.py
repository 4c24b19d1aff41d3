"""Completes ids from the inbox in a shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from navi.base.errors import NaviError

if TYPE_CHECKING:
    from navi.live.model.wire_format import InboxItemJson


class QuestionId(click.ParamType[str]):
    """The id of an open question; completions show what it asks."""

    name = "id"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        questions = [each["question"] for each in _inbox() if each["question"] is not None]
        return _items([(each["id"], each["title"]) for each in questions], incomplete)


class ItemId(click.ParamType[str]):
    """The id of anything in the inbox."""

    name = "id"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        return _items([(each["id"], each["title"]) for each in _inbox()], incomplete)


def _inbox() -> list[InboxItemJson]:
    """The inbox; empty if the server doesn't answer, because a shell can't show errors."""
    from navi.client import Client, find_server

    try:
        return Client(find_server()).inbox()
    except (NaviError, OSError):
        return []


def _items(pairs: list[tuple[str, str]], incomplete: str) -> list[CompletionItem[str]]:
    from navi.cli.sm import lines

    return [
        CompletionItem(id, help=lines.plain(title, lines.LONGEST))
        for id, title in pairs
        if id.startswith(incomplete.lower())
    ]
