"""Explains why a list or a search is empty: which filter excluded everything."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from navi.base.errors import NotFound
from navi.cli import formats, output

if TYPE_CHECKING:
    from navi.memory.index_paths import IndexPaths
    from navi.memory.read.session_list import SessionList

SUGGESTION_LIMIT = 3
NOTHING_INDEXED = "no sessions yet; `recall doctor` shows where recall looks for them"


class TagNotFound(NotFound):
    def __init__(self, tag: str, existing: Sequence[str]) -> None:
        if close := _suggestion(tag, existing):
            hint = f"did you mean {close}?"
        elif existing:
            hint = f"the tags are: {', '.join(existing[:20])}"
        else:
            hint = f"`recall tag ID {tag}` adds it to a session"
        super().__init__(f"no session has the tag {tag}", hint=hint)


class HostNotFound(NotFound):
    def __init__(self, name: str, existing: Sequence[str]) -> None:
        hint = "`recall sync ada@laptop` gets the sessions of another machine"
        if existing:
            hint = f"there are sessions from {', '.join(existing)} and from this machine"
        super().__init__(f"no session is from a machine called {name}", hint=hint)


class SessionFilterNotFound(NotFound):
    kind = "session_not_found"

    def __init__(self, name: str, existing: Sequence[str]) -> None:
        close = _suggestion(name.lower(), existing)
        super().__init__(
            f"there is no indexed session {name}",
            hint=f"did you mean {close}?" if close else "`recall list` shows the latest ones",
        )


def require_host(paths: IndexPaths, session_list: SessionList, name: str) -> None:
    """Raise `HostNotFound` unless some session may be from this machine."""
    from navi.memory.read.session_list import is_here

    hosts = session_list.hosts()
    if name.lower() not in map(str.lower, hosts) and not is_here(paths, name):
        raise HostNotFound(name, hosts)


def host_for_statistics(name: str | None) -> str | None:
    """The value of `Scope.host` for the option `--host`."""
    if name is None:
        return None
    from navi.memory.hosts.this_machine import HERE
    from navi.memory.index_paths import index_paths
    from navi.memory.read.session_list import SessionList, is_here

    paths = index_paths()
    session_list = SessionList(paths)
    require_host(paths, session_list, name)
    if not is_here(paths, name):
        return name
    # Without other machines' sessions, an index of an earlier version may have no column for hosts.
    return HERE if session_list.hosts() else None


def why_nothing_matches(
    filters: Any,
    total: Callable[[Any], int],
    session_list: SessionList,
    noun: str = "sessions",
    as_typed: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Explain why `filters` match nothing.

    `total` counts the matches of any filters. `as_typed` has the text of filters in the query."""
    values = {name: value for name, value in filters._asdict().items() if value is not None}
    unfiltered = filters._replace(**dict.fromkeys(values))
    for name in ("project", "tool"):
        if name in values and (sentence := _explain_unknown(name, values[name], session_list)):
            return sentence
    for name, value in values.items():
        if total(unfiltered._replace(**{name: value})) == 0:
            return f"no {noun} {_phrase(name, value)}"
    described = " ".join(_phrase(name, value) for name, value in values.items())
    totals_without = {name: total(filters._replace(**{name: None})) for name in values}
    name = max(totals_without, key=lambda each: totals_without[each])
    label = as_typed.get(name, f"--{name}")
    without = f"; without {label}: {totals_without[name]:,}" if totals_without[name] else ""
    return f"no {noun} {described}{without}"


def explain_no_stats(
    noun: str,
    source: str | None,
    project: str | None,
    since: datetime | None,
    host: str | None,
) -> None:
    """Print why there is nothing to count."""
    from navi.memory.index_paths import index_paths
    from navi.memory.read.session_list import SessionFilters, SessionList

    session_list = SessionList(index_paths())
    filters = SessionFilters(source, since, project, host=host)
    if session_list.total() == 0:
        output.note(NOTHING_INDEXED)
    elif session_list.total(filters) == 0:
        output.note(why_nothing_matches(filters, session_list.total, session_list))
    else:
        output.note(f"no {noun} in these sessions")


def _explain_unknown(name: str, value: str, session_list: SessionList) -> str | None:
    """A sentence if no session is in this project or used this tool; else None."""
    from navi.memory.read.session_list import in_project

    if name == "tool":
        tools = session_list.tools()
        if value.lower() in map(str.lower, tools):
            return None
        close = _suggestion(value, tools)
        return f"no tool called {value} was used" + (f"; did you mean {close}?" if close else "")
    projects = session_list.projects()
    if any(in_project(each, value) for each in projects):
        return None
    folder = formats.short_path(value.rstrip("/") or "/")
    similar = _projects_like(value, projects)
    return f"no session in project {folder}" + (f"; similar projects: {similar}" if similar else "")


def _projects_like(value: str, projects: Sequence[str]) -> str:
    folder = os.path.basename(value.rstrip("/")).lower()
    similar = [each for each in projects if folder and folder in os.path.basename(each).lower()]
    if not similar:
        by_name = {os.path.basename(each).lower(): each for each in projects}
        similar = [by_name[name] for name in _close_matches(folder, list(by_name))]
    return ", ".join(formats.short_path(each) for each in similar[:SUGGESTION_LIMIT])


_PHRASES: Mapping[str, str] = {
    "source": "of {}",
    "since": "since {}",
    "until": "before {}",
    "project": "in project {}",
    "tag": "with the tag {}",
    "role": "by {}",
    "tool": "with the tool {}",
    "session": "in session {}",
    "file": "about the file {}",
    "host": "from the machine {}",
    "origin": "in sessions with the origin {}",
    "outcome": "in sessions with the outcome {}",
}


def _phrase(name: str, value: Any) -> str:
    if isinstance(value, datetime):
        value = formats.local_time(value)
    elif name == "project":
        value = formats.short_path(value.rstrip("/") or "/")
    elif name == "source":
        value = formats.source(value)
    return _PHRASES[name].format(value)


def _suggestion(name: str, existing: Sequence[str]) -> str:
    return " or ".join(_close_matches(name, existing))


def _close_matches(name: str, existing: Sequence[str]) -> list[str]:
    from difflib import get_close_matches

    by_lower = {each.lower(): each for each in existing}
    close = get_close_matches(name.lower(), list(by_lower), n=SUGGESTION_LIMIT)
    return [by_lower[each] for each in close]
