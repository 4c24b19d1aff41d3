"""Answers queries to the memory with the same values as `recall … --json`.

The index is opened for each query and then closed, because an open reader blocks the writer. Its
engines block, so each query runs in a thread. They are slow to import, so the first query imports
them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from navi.base.clock import Clock
from navi.base.errors import InvalidInput, NotAllowed
from navi.base.secrets.masking import masked
from navi.base.time_ranges import SINCE_FORMS, parse_since, parse_until
from navi.base.timestamps import instant
from navi.live.model.access.user import User

Json = dict[str, Any]
Value = TypeVar("Value")
Connection = Any
"""A connection to the index. Naming its type would mean importing the engines."""
TOKEN_GROUPS = ("project", "day", "week", "month", "model")
PERIODS = {"day", "week", "month"}


@dataclass(frozen=True, slots=True)
class MemoryFilters:
    """What a query to the memory is limited to."""

    source: str | None = None
    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    tool: str | None = None
    role: str | None = None
    session: str | None = None
    file: str | None = None
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class Resumable:
    """A past session, and what its agent needs to resume it."""

    source: str
    agent_session_id: str | None
    """A sub-agent's session has the id of the session that started it."""
    cwd: str | None
    is_archived: bool
    """Whether its file is gone."""


class MemoryService:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def filters(self, user: User, parameters: Mapping[str, str]) -> MemoryFilters:
        """The filters of a request. Refuses users who may not search the memory."""
        if not user.is_admin:
            # The index holds every user's sessions on this machine.
            raise NotAllowed(
                "only an admin can search the memory", hint="ask the owner of this server"
            )
        now = self._clock.now()
        return MemoryFilters(
            source=_source(parameters.get("source")),
            project=parameters.get("project") or None,
            since=_moment("since", parameters, lambda text: parse_since(text, now)),
            until=_moment("until", parameters, lambda text: parse_until(text, now)),
            tool=parameters.get("tool") or None,
            role=parameters.get("role") or None,
            session=parameters.get("session") or None,
            file=parameters.get("file") or None,
            tag=parameters.get("tag") or None,
        )

    async def search(self, words: str, filters: MemoryFilters, limit: int) -> list[Json]:
        def work() -> list[Json]:
            from navi.memory.index_paths import places
            from navi.memory.read.json_views import hit_json
            from navi.memory.read.search import Filters, Search

            search_filters = Filters(
                source=filters.source,
                tool=filters.tool,
                project=filters.project,
                since=filters.since,
                role=filters.role,
                session=filters.session,
                until=filters.until,
                file=filters.file,
            )
            results = Search(places()).find(words, search_filters, limit)
            return [
                {
                    **hit_json(hit),
                    "highlights": hit.snippet.highlights,
                    "has_all_words": results.has_all_words,
                    "resume": _resume_line(hit.resume_command, hit.cwd),
                }
                for hit in results.hits
            ]

        if filters.role not in (None, "user", "assistant", "system"):
            raise InvalidInput(
                f"unknown role {filters.role!r}", hint="one of: user, assistant, system"
            )
        return await asyncio.to_thread(work)

    async def sessions(self, filters: MemoryFilters, limit: int) -> list[Json]:
        def work() -> list[Json]:
            from navi.memory.index_paths import places
            from navi.memory.read.session_list import SessionFilters, SessionList

            session_filters = SessionFilters(
                filters.source, filters.since, filters.project, filters.tag, filters.until
            )
            rows = SessionList(places()).sessions(session_filters, limit or None)
            return [{**each, "title": masked(each["title"])} for each in rows]

        return await asyncio.to_thread(work)

    async def session(self, id: str) -> Json:
        def work(connection: Connection) -> Json:
            from navi.memory.read.json_views import transcript_json
            from navi.memory.read.session_lookup import resolve
            from navi.memory.read.session_transcript import transcript
            from navi.memory.resume import resume_command

            past = transcript(connection, resolve(connection, id))
            session = past.session
            resume = _resume_line(resume_command(session), session["cwd"])
            return {**transcript_json(past), "resume": resume}

        return await _read(work)

    async def resumable(self, id: str) -> Resumable:
        def work(connection: Connection) -> Resumable:
            from navi.memory.read.session_lookup import resolve, session
            from navi.memory.resume import resumable_id

            past = session(connection, resolve(connection, id))
            return Resumable(past["source"], resumable_id(past), past["cwd"], past["is_archived"])

        return await _read(work)

    async def overview(self, filters: MemoryFilters) -> Json:
        totals = await _read(lambda connection: _stats().overview(connection, _scope(filters)))
        return {**totals, "first": instant(totals["first"]), "last": instant(totals["last"])}

    async def tools(self, filters: MemoryFilters) -> list[Json]:
        return await _read(lambda connection: _stats().tools(connection, _scope(filters)))

    async def bash(self, filters: MemoryFilters) -> list[Json]:
        return await _read(lambda connection: _stats().bash(connection, _scope(filters)))

    async def projects(self, filters: MemoryFilters) -> list[Json]:
        return await _read(lambda connection: _stats().projects(connection, _scope(filters)))

    async def activity(self, filters: MemoryFilters) -> list[Json]:
        rows = await _read(lambda connection: _stats().activity(connection, _scope(filters)))
        return [{**row, "hour": instant(row["hour"])} for row in rows]

    async def tokens(self, filters: MemoryFilters, by: str) -> list[Json]:
        groups = [each.strip() for each in by.split(",") if each.strip()]
        if not set(groups) <= set(TOKEN_GROUPS) or len(set(groups) & PERIODS) > 1:
            raise InvalidInput(
                f"can't group by {by[:40]!r}",
                hint=f"use any of {', '.join(TOKEN_GROUPS)}, but only one of day, week and month",
            )
        return await _read(lambda connection: _stats().tokens(connection, _scope(filters), groups))

    async def suggestions(self, filters: MemoryFilters) -> Json:
        def work(lines: Any) -> Json:
            from navi.memory.read.json_views import suggestions_json
            from navi.permissions.suggestions import suggest

            return suggestions_json(suggest(lines))

        lines = await _read(lambda connection: _stats().commands(connection, _scope(filters)))
        # Judging them is slow, and needs no open index.
        return await asyncio.to_thread(work, lines)


async def _read(work: Callable[[Connection], Value]) -> Value:
    def run() -> Value:
        from navi.memory import database
        from navi.memory.index_paths import places

        with database.reading(places()) as connection:
            return work(connection)

    return await asyncio.to_thread(run)


def _resume_line(command: list[str] | None, cwd: str | None) -> str | None:
    from navi.memory.resume import shell_line

    return None if command is None else shell_line(command, cwd)


def _stats() -> Any:
    from navi.memory.read import statistics

    return statistics


def _scope(filters: MemoryFilters) -> Any:
    return _stats().Scope(filters.source, filters.project, filters.since)


def _moment(
    name: str, parameters: Mapping[str, str], read: Callable[[str], datetime | None]
) -> datetime | None:
    text = parameters.get(name)
    if not text:
        return None
    moment = read(text)
    if moment is None:
        raise InvalidInput(f"{name}={text[:40]} is not a time", hint=f"for example {SINCE_FORMS}")
    return moment


def _source(name: str | None) -> str | None:
    """The source's name in the tables, where `claude-code` is `claude_code`."""
    if not name:
        return None
    from navi.memory.resume import agents

    source = name.strip().lower().replace("-", "_")
    if source not in agents():
        names = ", ".join(each.replace("_", "-") for each in agents())
        raise InvalidInput(f"unknown source {name[:40]!r}", hint=f"one of: {names}")
    return source
