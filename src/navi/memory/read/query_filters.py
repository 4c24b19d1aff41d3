"""Reads the filters inside a query: `auth bug agent:codex project:"my shop" before:2026-10-01`.

Only the keys below make a filter, with a value right after the colon. Everything else is searched
as words: `http://x`, `std::vector`, `12:30`, `file: x`, `file://x`, `tool::run`, text in a phrase.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, NamedTuple

from navi.base.errors import InvalidInput

FILTER_NAMES = {
    "agent": "source",
    "source": "source",
    "project": "project",
    "file": "file",
    "after": "since",
    "since": "since",
    "before": "until",
    "until": "until",
    "role": "role",
    "tool": "tool",
    "session": "session",
    "host": "host",
    "origin": "origin",
    "outcome": "outcome",
}
"""Each key's name in `Filters`. The names of the command's options work as keys, too."""
EXAMPLES = {
    "source": "codex",
    "project": "shop",
    "file": "src/auth.ts",
    "since": "7d, {key}:yesterday or {key}:2026-01-15",
    "until": "7d, {key}:yesterday or {key}:2026-01-15",
    "role": "user",
    "tool": "Bash",
    "session": "712f",
    "host": "laptop",
    "origin": "recall",
    "outcome": "failed",
}
CHOICES = {
    "role": ("user", "assistant", "system"),
    "origin": ("user", "recall", "automation", "agent", "reminder", "answer"),
    "outcome": ("failed", "ok", "denied", "error", "max_iterations", "limit", "stopped"),
}
"""The values of filters that allow only a few. `failed` is any of `full_text.FAILURES`."""
SAME_MOMENT = timedelta(seconds=10)
"""The clock is read twice: once for `7d` in a filter, once for `7d` in an option."""
LONGEST_SHOWN = 60
_KEYS = "|".join(FILTER_NAMES)
# The phrases and words are those of `read_query`.
_TOKEN = re.compile(rf'-?"[^"]*"?|(?P<key>(?ai:{_KEYS})):(?P<value>"[^"]*"?|(?!:|//)\S+)|\S+')


class TypedFilter(NamedTuple):
    text: str
    """As it was typed."""
    value: str | datetime


class FilteredQuery(NamedTuple):
    words: str
    """The query without its filters."""
    filters: dict[str, TypedFilter]
    """By their names in `Filters`."""


def read_filters(
    query: str,
    now: datetime,
    timezone: Callable[[], tzinfo] = lambda: UTC,
    project_at: Callable[[str], str] = os.path.expanduser,
) -> FilteredQuery:
    """Take the filters out of a query. `project_at` turns a typed project into a filter's value."""
    words: list[str] = []
    filters: dict[str, TypedFilter] = {}
    for token in _TOKEN.finditer(query):
        if token["key"] is None:
            words.append(token[0])
            continue
        key = token["key"].lower()
        name = FILTER_NAMES[key]
        text = token["value"]
        text = text[1:].removesuffix('"') if text.startswith('"') else text
        value: str | datetime | None
        if name in ("since", "until"):
            value = _moment(key, text, now, timezone())
        else:
            value = _value(name, text, project_at)
        if value is None:
            raise _bad_value(key, text)
        filter = TypedFilter(token[0][:LONGEST_SHOWN], value)
        earlier = filters.setdefault(name, filter)
        if not _is_same(earlier.value, value):
            raise _contradiction(filter.text, earlier.text)
    return FilteredQuery(" ".join(words) if filters else query, filters)


def combined(
    options: Mapping[str, Any], filters: Mapping[str, TypedFilter], label: str = "the filter {}"
) -> dict[str, Any]:
    """Join the filters given as options and those inside the query. `label` describes an option
    in errors."""
    for name, filter in filters.items():
        if options[name] is not None and not _is_same(options[name], filter.value):
            raise _contradiction(filter.text, label.format(name))
    return {**options, **{name: filter.value for name, filter in filters.items()}}


def _moment(key: str, text: str, now: datetime, timezone: tzinfo) -> datetime | None:
    """A day begins at its first moment, so `after:` includes it and `before:` doesn't."""
    # Imported late, as in the other functions, because most queries have no filters.
    from navi.base.time_ranges import parse_since, parse_until

    parse = parse_until if key == "until" else parse_since
    return parse(text, now, timezone)


def _value(name: str, text: str, project_at: Callable[[str], str]) -> str | None:
    """None if the filter can't have this value."""
    if not text.strip():
        return None
    if name == "source":
        from navi.vendors.registry import sources

        source = text.strip().lower().replace("-", "_")
        return source if source in sources() else None
    if name in CHOICES:
        return text.lower() if text.lower() in CHOICES[name] else None
    try:
        if name == "file":
            from navi.memory.file_paths import path_term

            return None if path_term(text) is None else text
        return project_at(text) if name == "project" else text
    except ValueError:  # a path with a character that no path can have
        return None


def _bad_value(key: str, text: str) -> InvalidInput:
    name = FILTER_NAMES[key]
    filter = f"{key}:{text}"[:LONGEST_SHOWN]
    quoting_hint = f'in quotes, "{filter}" is searched as words'
    if not text.strip():
        return InvalidInput(f"{key}: has no value", hint=f"for example {key}:{_example(key)}")
    if name == "source":
        from navi.vendors.registry import sources

        names = ", ".join(each.replace("_", "-") for each in sources())
        hint = f"the agents are {names}, for example {key}:{_example(key)}; {quoting_hint}"
        return InvalidInput(f"{filter} is not an agent", hint=hint)
    if name in CHOICES:
        names = ", ".join(CHOICES[name])
        hint = f"the {name}s are {names}, for example {key}:{_example(key)}; {quoting_hint}"
        return InvalidInput(f"{filter} is not {_with_article(name)}", hint=hint)
    noun = {"file": "a file", "project": "a project"}.get(name, "a time")
    hint = f"for example {key}:{_example(key)}; {quoting_hint}"
    return InvalidInput(f"{filter} is not {noun}", hint=hint)


def _with_article(name: str) -> str:
    return f"an {name}" if name.startswith("o") else f"a {name}"


def _example(key: str) -> str:
    return EXAMPLES[FILTER_NAMES[key]].format(key=key)


def _contradiction(filter: str, other: str) -> InvalidInput:
    return InvalidInput(f"{filter} contradicts {other}", hint="leave one of them out")


def _is_same(one: object, other: object) -> bool:
    if isinstance(one, datetime) and isinstance(other, datetime):
        return abs(one - other) < SAME_MOMENT
    return one == other
