"""The memory, for whoever asks the server: the same values as `recall … --json`.

The index is opened for each question and closed after it, because an open reader keeps the writer
waiting; in a thread of its own, because its engines don't know the event loop. They are heavy to
import, so only the first question does that.
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
"""To the index, whose engines only the index knows."""
TOKEN_GROUPS = ("project", "day", "week", "month", "model")
PERIODS = {"day", "week", "month"}


@dataclass(frozen=True, slots=True)
class MemoryFilters:
    """What a question to the memory is limited to."""

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
    """A session of the memory, with what its agent needs to take it up again."""

    source: str
    agent_session_id: str | None
    """A sub-agent's is that of the session which started it."""
    cwd: str | None
    is_archived: bool
    """Its file is gone."""


class Archive:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def filters(self, user: User, parameters: Mapping[str, str]) -> MemoryFilters:
        """From a request; refuses users who may not look into the memory at all."""
        if not user.is_admin:
            # The index holds everything that was ever said on this machine, whoever said it.
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

            wanted = Filters(
                source=filters.source,
                tool=filters.tool,
                project=filters.project,
                since=filters.since,
                role=filters.role,
                session=filters.session,
                until=filters.until,
                file=filters.file,
            )
            found = Search(places()).find(words, wanted, limit)
            return [
                {
                    **hit_json(hit),
                    "highlights": hit.snippet.highlights,
                    "has_all_words": found.has_all_words,
                    "resume": _resume_line(hit.resume_command, hit.cwd),
                }
                for hit in found.hits
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

            wanted = SessionFilters(
                filters.source, filters.since, filters.project, filters.tag, filters.until
            )
            listed = SessionList(places()).sessions(wanted, limit or None)
            return [{**each, "title": masked(each["title"])} for each in listed]

        return await asyncio.to_thread(work)

    async def session(self, id: str) -> Json:
        def work(connection: Connection) -> Json:
            from navi.memory.read.json_views import transcript_json
            from navi.memory.read.session_lookup import resolve
            from navi.memory.read.session_transcript import transcript
            from navi.memory.resume import resume_command

            found = transcript(connection, resolve(connection, id))
            session = found.session
            resume = _resume_line(resume_command(session), session["cwd"])
            return {**transcript_json(found), "resume": resume}

        return await _read(work)

    async def resumable(self, id: str) -> Resumable:
        def work(connection: Connection) -> Resumable:
            from navi.memory.read.session_lookup import resolve, session
            from navi.memory.resume import resumable_id

            found = session(connection, resolve(connection, id))
            return Resumable(
                found["source"], resumable_id(found), found["cwd"], found["is_archived"]
            )

        return await _read(work)

    async def overview(self, filters: MemoryFilters) -> Json:
        found = await _read(lambda connection: _stats().overview(connection, _scope(filters)))
        return {**found, "first": instant(found["first"]), "last": instant(found["last"])}

    async def tools(self, filters: MemoryFilters) -> list[Json]:
        return await _read(lambda connection: _stats().tools(connection, _scope(filters)))

    async def bash(self, filters: MemoryFilters) -> list[Json]:
        return await _read(lambda connection: _stats().bash(connection, _scope(filters)))

    async def projects(self, filters: MemoryFilters) -> list[Json]:
        return await _read(lambda connection: _stats().projects(connection, _scope(filters)))

    async def activity(self, filters: MemoryFilters) -> list[Json]:
        found = await _read(lambda connection: _stats().activity(connection, _scope(filters)))
        return [{**row, "hour": instant(row["hour"])} for row in found]

    async def tokens(self, filters: MemoryFilters, by: str) -> list[Json]:
        groups = [each.strip() for each in by.split(",") if each.strip()]
        if not set(groups) <= set(TOKEN_GROUPS) or len(set(groups) & PERIODS) > 1:
            raise InvalidInput(
                f"can't group by {by[:40]!r}",
                hint=f"use any of {', '.join(TOKEN_GROUPS)}, but only one of day, week and month",
            )
        return await _read(lambda connection: _stats().tokens(connection, _scope(filters), groups))

    async def suggestions(self, filters: MemoryFilters) -> Json:
        def judged(lines: Any) -> Json:
            from navi.memory.read.json_views import suggestions_json
            from navi.permissions.suggestions import suggest

            return suggestions_json(suggest(lines))

        lines = await _read(lambda connection: _stats().commands(connection, _scope(filters)))
        # Takes its time, and needs no open index.
        return await asyncio.to_thread(judged, lines)


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
    """`claude-code` is `claude_code` in the tables."""
    if not name:
        return None
    from navi.memory.resume import agents

    known = name.strip().lower().replace("-", "_")
    if known not in agents():
        shown = ", ".join(each.replace("_", "-") for each in agents())
        raise InvalidInput(f"there is no source {name[:40]!r}", hint=f"one of: {shown}")
    return known
