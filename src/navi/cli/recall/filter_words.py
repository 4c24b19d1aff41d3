"""Completes the filters among the words of a search, such as `agent:codex`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import click
from click.shell_completion import CompletionItem

from navi.cli.recall.options import ProjectPath, SessionName, SourceName, ToolName

TIMES = ("today", "yesterday", "7d", "30d")
TYPES: Mapping[str, Callable[[], click.ParamType[str]]] = {
    "agent": SourceName,
    "project": ProjectPath,
    "tool": ToolName,
    "session": SessionName,
}
"""Filters that are options too, and the types that complete their values."""


class SearchWord(click.ParamType[str]):
    name = "words"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """Complete whole filters, because a shell would add a space after a name alone.

        Bash splits words at colons, so there only the value is completed.
        """
        earlier = list(ctx.params.get(param.name or "") or ())
        if incomplete == ":":
            earlier, incomplete = [*earlier, incomplete], ""
        if earlier[-1:] == [":"] and len(earlier) > 1:
            return [CompletionItem(value) for value in _values(ctx, param, earlier[-2], incomplete)]
        key, colon, start = incomplete.partition(":")
        return [
            CompletionItem(_quoted(f"{name}:", value))
            for name in _names(key, is_whole=bool(colon))
            for value in _values(ctx, param, name, start)
        ]


def _names(key: str, *, is_whole: bool) -> list[str]:
    from navi.memory.read.query_filters import CHOICES

    names = [*TYPES, *CHOICES, "after", "before"]
    return [name for name in names if key and (name == key if is_whole else name.startswith(key))]


def _values(ctx: click.Context, param: click.Parameter, name: str, start: str) -> Iterable[str]:
    from navi.memory.read.query_filters import CHOICES

    if name in TYPES:
        items = TYPES[name]().shell_complete(ctx, param, start.lstrip('"'))
        return [item.value for item in items]
    choices = TIMES if name in ("after", "before") else CHOICES.get(name, ())
    return [choice for choice in choices if choice.startswith(start.lower())]


def _quoted(key: str, value: str) -> str:
    return f'{key}"{value}"' if " " in value else f"{key}{value}"
