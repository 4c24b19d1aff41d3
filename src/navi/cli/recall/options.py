"""Options and arguments shared by several commands: parsing and completion."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from navi.base.clock import Clock
from navi.base.control_characters import CONTROL_CHARACTER, one_line
from navi.base.errors import NaviError
from navi.base.secrets.masking import masked as mask
from navi.cli import formats

if TYPE_CHECKING:
    from navi.memory.read.session_list import SessionList

COMPLETION_LIMIT = 200
"""How many sessions to offer: the shell asks at every press of Tab, and nobody reads more."""


def clock() -> Clock:
    from navi.base.system_clock import SystemClock

    return SystemClock()


class Moment(click.ParamType[datetime]):
    """A time, parsed by the function `parser_name` of `time_ranges`; local if it has no zone."""

    name = "when"

    def __init__(self, parser_name: str) -> None:
        self._parser_name = parser_name

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        if isinstance(value, datetime):
            return value
        from navi.base import time_ranges
        from navi.base.system_clock import machine_timezone

        parse: Callable[[str, datetime, tzinfo], datetime | None] = getattr(
            time_ranges, self._parser_name
        )
        moment = parse(value, clock().now(), machine_timezone())
        if moment is None:
            self.fail(f"{value!r} isn't a time; write {time_ranges.SINCE_FORMS}")
        return moment


class SourceName(click.ParamType[str]):
    """`claude-code` on the command line is `claude_code` in the index."""

    name = "source"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from navi.vendors.registry import sources

        name: str = value.strip().lower().replace("-", "_")
        if name not in sources():
            names = ", ".join(map(formats.source, sources()))
            self.fail(f"unknown source {value!r}; choose from: {names}")
        return name

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        from navi.vendors.registry import sources

        return _items(map(formats.source, sources()), incomplete)


class ProjectPath(click.ParamType[str]):
    """Part of a path, or a folder; a folder in a repository stands for the whole repository."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        folder: str = os.path.expanduser(value)
        is_path = "/" in folder or folder in (".", "..")
        if not is_path or not os.path.isdir(folder):
            return folder
        from navi.memory.ingest.derived.projects import repository_of

        folder = os.path.realpath(folder)  # agents record the real path
        root = repository_of(folder) or folder
        return root.rstrip("/") + "/"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        paths = [
            formats.short_path(path)
            for path in _from_index(lambda session_list: session_list.projects())
        ]
        return _items(paths, incomplete)


class SessionName(click.ParamType[str]):
    """An id, the start of one, or the agent's own id; completions show the title."""

    name = "session"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        start = incomplete.lower()
        recent = _from_index(lambda session_list: session_list.sessions(limit=COMPLETION_LIMIT))
        items = [
            CompletionItem(each["id"], help=_about(each))
            for each in recent
            if each["id"].startswith(start)
        ]
        return items or _items(_from_index(lambda session_list: session_list.ids()), start)


class TagName(click.ParamType[str]):
    name = "tag"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        tag: str = value.removeprefix("#")
        return tag

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        return _items(_from_index(lambda session_list: session_list.tags()), incomplete)


class HostName(click.ParamType[str]):
    """A machine's name; `here` is this one."""

    name = "host"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        hosts = _from_index(lambda session_list: session_list.hosts())
        return _items([*hosts, "here"] if hosts else [], incomplete)


class ToolName(click.ParamType[str]):
    name = "tool"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        return _items(_from_index(lambda session_list: session_list.tools()), incomplete)


def _from_index(read: Callable[[SessionList], list[Any]]) -> list[Any]:
    """The result of `read`; empty if it fails, because a shell can't show errors."""
    from navi.memory.index_paths import index_paths
    from navi.memory.read.session_list import SessionList

    try:
        return read(SessionList(index_paths()))
    except (NaviError, OSError):
        return []


def _items(names: Iterator[str] | list[str], incomplete: str) -> list[CompletionItem[str]]:
    """The names that start with `incomplete` and contain no control characters."""
    start = incomplete.lower()
    return [
        CompletionItem(name)
        for name in names
        if name.lower().startswith(start) and CONTROL_CHARACTER.search(name) is None
    ]


def _about(session: dict[str, Any]) -> str:
    title = one_line(mask(session["title"] or ""))
    project = formats.short_path(session["project"] or "")
    return formats.shortened(" · ".join(filter(None, (title, project))), 70) or "no title"


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

json_option: Decorator = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
source_option: Decorator = click.option(
    "--source",
    "--agent",
    "source",
    type=SourceName(),
    help="Only the sessions of one agent, such as codex.",
)
since_option: Decorator = click.option(
    "--since",
    type=Moment("parse_since"),
    help="Only after this time: yesterday, monday, 7d, 24h, or a local date or time.",
)
until_option: Decorator = click.option(
    "--until",
    type=Moment("parse_until"),
    help="Only before this time, written as for --since; a date includes the whole day.",
)
project_option: Decorator = click.option(
    "--project",
    type=ProjectPath(),
    help="Only this project. PATH can be part of its path, or any folder inside it (`.` is the "
    "current folder).",
)
host_option: Decorator = click.option(
    "--host",
    type=HostName(),
    metavar="NAME",
    help="Only the sessions of one machine; `here` is this one.",
)
session_argument: Decorator = click.argument("id", type=SessionName(), metavar="ID")
