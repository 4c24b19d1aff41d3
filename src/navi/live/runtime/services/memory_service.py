"""Answers queries to the memory with the same values as `recall … --json`.

The index is opened for each query and closed again, because nothing can be written while it is
open. Each query runs in a thread, so that it doesn't hold up the event loop. The first query
imports DuckDB and tantivy, which are slow to import.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from navi.base.clock import Clock
from navi.base.errors import Conflict, InvalidInput, NaviError, NoModel, NotAllowed
from navi.base.secrets.masking import masked
from navi.base.time_ranges import SINCE_FORMS, parse_since, parse_until
from navi.base.timestamps import instant
from navi.live.model.access.user import User

if TYPE_CHECKING:
    from navi.memory.overview.digest import Digest
    from navi.memory.read.search import SearchResult
    from navi.memory.read.session_transcript import Transcript
    from navi.memory.semantic.open_search import SearchOpener

Json = dict[str, Any]
Value = TypeVar("Value")
Connection = Any
"""A connection to the index. Its real type could be named only by importing DuckDB."""
IDLE_SECONDS = 600.0
"""How long the model for search by meaning stays in memory after a search: about 100 MB."""
TOKEN_GROUPS = ("project", "day", "week", "month", "model")
PERIODS = {"day", "week", "month"}


@dataclass(frozen=True, slots=True)
class MemoryFilters:
    """The filters of a query to the memory."""

    source: str | None = None
    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    tool: str | None = None
    role: str | None = None
    session: str | None = None
    file: str | None = None
    host: str | None = None
    tag: str | None = None
    origin: str | None = None
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class Resumable:
    """A past session, and what its agent needs to resume it."""

    source: str
    agent_session_id: str | None
    """The agent's own id of the session to resume; None if it can't be resumed. A sub-agent's
    session is resumed through its parent, so this is the parent's id."""
    cwd: str | None
    is_archived: bool
    """Whether the session's file is gone."""


async def _no_model(instructions: str, text: str) -> str:
    raise NoModel


class MemoryService:
    """`summarise` takes instructions and a text, and returns a model's summary."""

    def __init__(
        self, clock: Clock, summarise: Callable[[str, str], Awaitable[str]] = _no_model
    ) -> None:
        self._clock = clock
        self._summarise = summarise
        self._opener: SearchOpener | None = None
        self._unloading: asyncio.TimerHandle | None = None

    def authorized_filters(self, user: User, parameters: Mapping[str, str]) -> MemoryFilters:
        """A request's filters. Refuses users who may not search the memory."""
        if not user.is_admin:
            # The index holds every user's sessions on this machine.
            raise NotAllowed(
                "only an admin can search the memory", hint="ask the owner of this server"
            )
        return self.filters(parameters)

    def filters(self, parameters: Mapping[str, str]) -> MemoryFilters:
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
            host=parameters.get("host") or None,
            tag=parameters.get("tag") or None,
        )

    def read_query(self, query: str, request_filters: MemoryFilters) -> tuple[str, MemoryFilters]:
        """The words of a query, and its filters combined with those of the request."""
        from navi.memory.read.query import read_query
        from navi.memory.read.query_filters import combined, read_filters

        words, typed = read_filters(query, self._clock.now())
        filters = MemoryFilters(**combined(asdict(request_filters), typed))
        if typed and filters.file is None and not read_query(words):
            raise InvalidInput(
                "there are only filters and no words to search for",
                hint="add words; only file:PATH needs none",
            )
        return words, filters

    async def search(self, query: str, filters: MemoryFilters, limit: int) -> list[Json]:
        """The hits, in the format of `recall search --json`. The query may contain filters."""
        words, filters = self.read_query(query, filters)
        results = await self.find(words, filters, limit)

        def work() -> list[Json]:
            from navi.memory.read.json_views import hit_json

            return [
                {
                    **hit_json(hit),
                    "highlights": hit.snippet.highlights,
                    "resume": _resume_line(hit.resume_command, hit.cwd),
                }
                for hit in results.hits
            ]

        return await asyncio.to_thread(work)

    async def find(self, words: str, filters: MemoryFilters, limit: int) -> SearchResult:
        """Search for words that `read_query` returned. The page, the API and agents' tools use
        this."""

        def work() -> SearchResult:
            from navi.memory.index_paths import index_paths
            from navi.memory.read.search import Filters

            search_filters = Filters(
                source=filters.source,
                tool=filters.tool,
                project=filters.project,
                since=filters.since,
                role=filters.role,
                session=filters.session,
                until=filters.until,
                file=filters.file,
                host=filters.host,
                origin=filters.origin,
                outcome=filters.outcome,
            )
            opened = self._search_opener().open(index_paths())
            results = opened.search.find(words, search_filters, limit)
            if opened.problem is None:
                return results
            return results._replace(problem=opened.problem)

        if filters.role not in (None, "user", "assistant", "system"):
            raise InvalidInput(
                f"unknown role {filters.role!r}", hint="one of: user, assistant, system"
            )
        results = await asyncio.to_thread(work)
        if results.goes_by_meaning:
            self._unload_later()
        return results

    async def meaning(self) -> Json:
        """Whether search by meaning is ready and, if not, why."""

        def work() -> Json:
            from navi.memory.index_paths import index_paths

            try:
                opened = self._search_opener().open(index_paths())
            except NaviError as error:  # there is no index, or it can't be read
                return _meaning_json(error, 0)
            return _meaning_json(opened.problem, opened.pending)

        return await asyncio.to_thread(work)

    def _search_opener(self) -> SearchOpener:
        from navi.memory.semantic.open_search import SearchOpener

        if self._opener is None:
            self._opener = SearchOpener()
        return self._opener

    def _unload_later(self) -> None:
        """Unload the model when nobody has searched for a while."""
        if self._unloading is not None:
            self._unloading.cancel()
        unload = self._search_opener().unload
        self._unloading = asyncio.get_running_loop().call_later(IDLE_SECONDS, unload)

    async def sessions(self, filters: MemoryFilters, limit: int) -> list[Json]:
        def work() -> list[Json]:
            from navi.memory.index_paths import index_paths
            from navi.memory.read.session_list import SessionFilters, SessionList

            session_filters = SessionFilters(
                filters.source,
                filters.since,
                filters.project,
                filters.tag,
                filters.until,
                filters.host,
            )
            past_sessions = SessionList(index_paths()).sessions(session_filters, limit or None)
            return [{**each, "title": masked(each["title"])} for each in past_sessions]

        return await asyncio.to_thread(work)

    async def folders(self, limit: int) -> list[tuple[str, datetime]]:
        """The folders of the latest sessions, and when they were used. Empty without an index."""

        def work() -> list[tuple[str, datetime]]:
            from navi.memory.index_errors import IndexUnusable, NoIndex
            from navi.memory.index_paths import index_paths
            from navi.memory.read.session_list import SessionList

            try:
                cards = SessionList(index_paths()).sessions(limit=limit)
            except (NoIndex, IndexUnusable):
                return []  # Searching reports a damaged index; a suggestion is not worth an error.
            used = [
                (card["cwd"], card["ended_at"] or card["started_at"])
                for card in cards
                if not card.get("host")
            ]
            return [(cwd, datetime.fromisoformat(at)) for cwd, at in used if cwd and at]

        return await asyncio.to_thread(work)

    async def transcript(self, id: str) -> Transcript:
        return await _read(lambda connection: _transcript(connection, id))

    async def session(self, id: str) -> Json:
        def work(connection: Connection) -> Json:
            from navi.memory.read.json_views import transcript_json
            from navi.memory.resume import resume_command

            past = _transcript(connection, id)
            session = past.session
            resume = _resume_line(resume_command(session), session["cwd"])
            return {**transcript_json(past), "resume": resume}

        return await _read(work)

    async def resumable(self, id: str) -> Resumable:
        def work(connection: Connection) -> Resumable:
            from navi.memory.read.session_lookup import resolve, session
            from navi.memory.resume import resumable_id

            past = session(connection, resolve(connection, id))
            if past["host"] is not None:
                raise Conflict(
                    f"session {past['id']} is on {past['host']}, and can be continued only there",
                    hint=f"continue it on {past['host']}",
                )
            return Resumable(past["source"], resumable_id(past), past["cwd"], past["is_archived"])

        return await _read(work)

    async def overview(self, filters: MemoryFilters) -> Json:
        totals = await _read(lambda connection: _statistics().overview(connection, _scope(filters)))
        return {**totals, "first": instant(totals["first"]), "last": instant(totals["last"])}

    async def tools(self, filters: MemoryFilters) -> list[Json]:
        return await _read(lambda connection: _statistics().tools(connection, _scope(filters)))

    async def bash_commands(self, filters: MemoryFilters) -> list[Json]:
        return await _read(
            lambda connection: _statistics().bash_commands(connection, _scope(filters))
        )

    async def projects(self, filters: MemoryFilters) -> list[Json]:
        return await _read(lambda connection: _statistics().projects(connection, _scope(filters)))

    async def activity(self, filters: MemoryFilters) -> list[Json]:
        rows = await _read(lambda connection: _statistics().activity(connection, _scope(filters)))
        return [{**row, "hour": instant(row["hour"])} for row in rows]

    async def tokens(self, filters: MemoryFilters, by: str) -> list[Json]:
        groups = [each.strip() for each in by.split(",") if each.strip()]
        if not set(groups) <= set(TOKEN_GROUPS) or len(set(groups) & PERIODS) > 1:
            raise InvalidInput(
                f"can't group by {by[:40]!r}",
                hint=f"use any of {', '.join(TOKEN_GROUPS)}, but only one of day, week and month",
            )
        return await _read(
            lambda connection: _statistics().tokens(connection, _scope(filters), groups)
        )

    async def digest(self, filters: MemoryFilters) -> Json:
        """A digest, in the format of `recall digest --json`."""
        from navi.memory.overview.digest import digest_json

        return digest_json(await self._digest(filters))

    async def digest_summary(self, filters: MemoryFilters) -> Json:
        """The default model's summary of a digest. Secrets are masked before the model gets it."""
        from navi.memory.overview.digest_text import SUMMARY_INSTRUCTIONS, quoted_for_model

        digest = await self._digest(filters)
        if not digest.projects:
            return {"summary": ""}
        summary = await self._summarise(SUMMARY_INSTRUCTIONS, quoted_for_model(digest))
        return {"summary": masked(summary)}

    async def _digest(self, filters: MemoryFilters) -> Digest:
        scope = MemoryFilters(filters.source, filters.project, filters.since, filters.until)
        if scope != filters:
            raise InvalidInput(
                "a digest can be limited only by source, project, since and until",
                hint="leave out the other filters",
            )
        now = self._clock.now()

        def work(connection: Connection) -> Digest:
            from navi.memory.overview.digest import make_digest
            from navi.memory.overview.digest_rows import digest_rows

            dates = scope.since, scope.until
            rows = digest_rows(connection, _statistics().Scope(scope.source, scope.project, *dates))
            return make_digest(rows, *dates, now)

        return await _read(work)

    async def suggestions(self, filters: MemoryFilters) -> Json:
        def work(commands: Any) -> Json:
            from navi.memory.read.json_views import suggestions_json
            from navi.permissions.suggestions import suggest

            return suggestions_json(suggest(commands))

        commands = await _read(
            lambda connection: _statistics().commands(connection, _scope(filters))
        )
        # Judging commands is slow, and needs no open index.
        return await asyncio.to_thread(work, commands)


async def _read(work: Callable[[Connection], Value]) -> Value:
    def run() -> Value:
        from navi.memory import database
        from navi.memory.index_paths import index_paths

        with database.reading(index_paths()) as connection:
            return work(connection)

    return await asyncio.to_thread(run)


def _transcript(connection: Connection, id: str) -> Transcript:
    from navi.memory.read.session_lookup import resolve
    from navi.memory.read.session_transcript import transcript

    return transcript(connection, resolve(connection, id))


def _resume_line(command: list[str] | None, cwd: str | None) -> str | None:
    from navi.memory.resume import shell_line

    return None if command is None else shell_line(command, cwd)


def _meaning_json(problem: NaviError | None, pending_sessions: int) -> Json:
    return {
        "is_ready": problem is None,
        "problem": problem and {"message": problem.message, "hint": problem.hint},
        "pending_sessions": pending_sessions,
    }


def _statistics() -> Any:
    from navi.memory.read import statistics

    return statistics


def _scope(filters: MemoryFilters) -> Any:
    scope = MemoryFilters(filters.source, filters.project, filters.since)
    if scope != filters:
        raise InvalidInput(
            "statistics can be limited only by source, project and since",
            hint="leave out the other filters",
        )
    return _statistics().Scope(scope.source, scope.project, scope.since)


def _moment(
    name: str, parameters: Mapping[str, str], parse: Callable[[str], datetime | None]
) -> datetime | None:
    text = parameters.get(name)
    if not text:
        return None
    moment = parse(text)
    if moment is None:
        raise InvalidInput(f"{name}={text[:40]} is not a time", hint=f"for example {SINCE_FORMS}")
    return moment


def _source(name: str | None) -> str | None:
    """The source's name in the tables, where `claude-code` is `claude_code`."""
    if not name:
        return None
    from navi.vendors.registry import sources

    source = name.strip().lower().replace("-", "_")
    if source not in sources():
        names = ", ".join(each.replace("_", "-") for each in sources())
        raise InvalidInput(f"unknown source {name[:40]!r}", hint=f"one of: {names}")
    return source
