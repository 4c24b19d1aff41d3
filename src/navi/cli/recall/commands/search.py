"""`recall search`: search what agents said, thought and ran, and what tools printed."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from navi.base.errors import InvalidInput, NaviError, UsageError
from navi.cli import output
from navi.cli.raw_option import raw_option
from navi.cli.recall.filter_words import SearchWord
from navi.cli.recall.options import (
    ProjectPath,
    SessionName,
    ToolName,
    clock,
    host_option,
    json_option,
    project_option,
    since_option,
    source_option,
    until_option,
)

if TYPE_CHECKING:
    from navi.memory.index_paths import IndexPaths
    from navi.memory.read.query_filters import FilteredQuery
    from navi.memory.read.search import Filters, Hit, Passage, Search, SearchResult

DEFAULT_LIMIT = 20
ROLES = ("user", "assistant", "system")
SOME_AFTER_ALL = "other sessions, with only some of these words:"
ONLY_SOME = "no passage has all of these words; these have some of them"
NEAREST_AFTER_ALL = "other sessions, nearest in meaning or with only some of these words:"
ONLY_NEAREST = (
    "no passage has all of these words; these are nearest in meaning or have some of them"
)


class SearchCommand(click.Command):
    """Explains how to search for a word that looks like an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name
            word = next((each for each in words if each.startswith(name)), name)
            if error.possibilities:
                hint = f"did you mean {' or '.join(sorted(error.possibilities))}?"
            else:
                hint = f"put words that start with - after `--`: recall search WORDS -- {word}"
            raise UsageError(f"unknown option {word}", hint=hint) from error


@click.command(
    "search",
    cls=SearchCommand,
    epilog="\b\nExamples:\n"
    "  recall search auth bug --since monday --project .\n"
    "  recall search '\"connection reset\"' -C 2\n"
    "  recall search timeout agent:codex file:auth.ts before:2026-10-01\n"
    "  recall search deploy --role user -- -staging",
)
@click.argument("words", nargs=-1, type=SearchWord(), metavar="[WORDS]...")
@source_option
@click.option(
    "--tool", type=ToolName(), help="Only calls to this tool, and the messages that made them."
)
@click.option(
    "--file",
    metavar="PATH",
    help="Only sessions that read or changed this file (a path, or the end of one). Without WORDS, "
    "list those reads and changes.",
)
@project_option
@host_option
@since_option
@until_option
@click.option("--role", type=click.Choice(ROLES), help="Only messages from this role.")
@click.option("--session", type=SessionName(), help="Only this session: an id or the start of one.")
@click.option(
    "--sort",
    type=click.Choice(["relevance", "date"]),
    default="relevance",
    show_default=True,
    help="Best match first, or newest first.",
)
@click.option(
    "-C",
    "--context",
    type=click.IntRange(0, 50),
    metavar="N",
    default=0,
    help="Show N messages before and after each hit.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    default=DEFAULT_LIMIT,
    show_default=True,
    help="Maximum number of passages; 0 for all.",
)
@click.option(
    "--count",
    "only_count",
    is_flag=True,
    help="Print only how many passages contain all of the words.",
)
@click.option(
    "--semantic",
    "by_meaning",
    is_flag=True,
    help="Also find passages that say the same thing in other words. Needs a model: `recall model "
    "install`.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="With --semantic: weight of meaning, from 0 (words only) to 1 (meaning only).  "
    "[default: 0.5]",
)
@raw_option
@json_option
def command(
    words: tuple[str, ...],
    source: str | None,
    tool: str | None,
    file: str | None,
    project: str | None,
    host: str | None,
    since: datetime | None,
    until: datetime | None,
    role: str | None,
    session: str | None,
    sort: str,
    context: int,
    limit: int,
    only_count: bool,
    by_meaning: bool,
    alpha: float | None,
    as_json: bool,
) -> None:
    """Search what agents said, thought and ran, and what tools printed.

    Finds passages that contain all of the words, best session first. If few sessions match,
    passages with some of the words follow. "quoted words" must be adjacent. `pre*` matches words
    starting with `pre`; `-word` excludes passages containing `word` and must come after `--`. WORDS
    may be left out only with --file.

    You can mix filters with the words: agent:, project:, file:, after:, before:, role:, tool:,
    session:, host:, origin: and outcome:, each with its value right after it, as in `project:shop`
    or `'project:"my shop"'`.

    Each hit has a message number: `recall show ID --at N` shows it in context.
    """
    from navi.cli.recall.freshness import bring_up_to_date
    from navi.memory.index_paths import index_paths
    from navi.memory.read.search import Filters, Search

    typed = _read_filters(" ".join(words))
    query = typed.words
    from_options = Filters(source, tool, project, since, role, session, until, file, host)
    filters = _combined(from_options, typed)
    if filters.file is None:
        _require_words(query)
    paths = index_paths()
    bring_up_to_date(paths)
    search = _semantic_search(paths, alpha) if by_meaning or alpha is not None else Search(paths)
    _require_existing(search, filters)
    if only_count:
        output.say(str(search.total(query, filters)))
        return
    results = search.find(query, filters, limit or None, by_date=sort == "date")
    _say_why_by_words(results.problem)
    if as_json:
        _print_json(search, results, context)
    elif results.hits:
        _print(search, results, query, context)
    else:
        _explain_no_hits(search, typed, filters)
    if limit and len(results.hits) == limit and not results.goes_by_meaning:
        _say_how_many(limit, search.total(query, filters, has_all_words=results.has_all_words))


def _say_how_many(limit: int, total: int) -> None:
    if total > limit:
        output.note(f"{limit} of {total:,} passages; --limit 0 for all")


def _semantic_search(paths: IndexPaths, alpha: float | None) -> Search:
    from navi.memory.semantic.open_search import SearchOpener

    opened = SearchOpener().open(paths, alpha)
    _say_why_by_words(opened.problem)
    if opened.pending:
        sessions = "1 session is" if opened.pending == 1 else f"{opened.pending:,} sessions are"
        output.note(f"note: {sessions} found by words alone until `recall index --embed` has run")
    return opened.search


def _say_why_by_words(problem: NaviError | None) -> None:
    if problem is not None:
        output.note(f"note: searched by words alone: {problem.sentence}")


def _print_json(search: Search, results: SearchResult, context: int) -> None:
    from navi.memory.read.json_views import hit_json

    hits = [hit_json(hit) for hit in results.hits]
    if context:
        for view, hit in zip(hits, results.hits, strict=True):
            view["context"] = [passage._asdict() for passage in search.around(hit, context)]
    output.say_json(hits)


def _print(search: Search, results: SearchResult, query: str, context: int) -> None:
    from navi.cli.recall.hits import show

    def around(hit: Hit) -> list[Passage]:
        return search.around(hit, context) if context else []

    complete = [hit for hit in results.hits if hit.has_all_words]
    partial = [hit for hit in results.hits if not hit.has_all_words]
    show(complete, around, query)
    if partial:
        some = (
            (NEAREST_AFTER_ALL, ONLY_NEAREST)
            if results.goes_by_meaning
            else (SOME_AFTER_ALL, ONLY_SOME)
        )
        output.note(some[0] if complete else some[1])
        show(partial, around, query)


def _read_filters(query: str) -> FilteredQuery:
    from navi.base.system_clock import machine_timezone
    from navi.memory.read.query_filters import read_filters

    def project_at(name: str) -> str:
        return ProjectPath().convert(name, None, None)

    try:
        return read_filters(query, clock().now(), machine_timezone, project_at)
    except InvalidInput as error:
        raise UsageError(error.message, hint=error.hint) from error


def _combined(from_options: Filters, typed: FilteredQuery) -> Filters:
    from navi.memory.read.query_filters import combined

    try:
        return from_options._replace(**combined(from_options._asdict(), typed.filters, "--{}"))
    except InvalidInput as error:
        raise UsageError(error.message, hint=error.hint) from error


def _require_words(query: str) -> None:
    from navi.memory.read.query import read_query

    if read_query(query):
        return
    problem = (
        f"{query.strip()!r} contains no letters or digits"
        if query.strip()
        else "no words to search for"
    )
    raise UsageError(
        problem,
        hint="try `recall search auth bug`; `recall list` shows the latest sessions",
    )


def _require_existing(search: Search, filters: Filters) -> None:
    """Raise an error if the session or the machine is not in the index."""
    if filters.session is not None and not search.has_session(filters.session):
        raise _unknown_session(filters.session)
    if filters.host is not None:
        from navi.cli.recall.no_matches import require_host
        from navi.memory.index_paths import index_paths
        from navi.memory.read.session_list import SessionList

        require_host(index_paths(), SessionList(index_paths()), filters.host)


def _unknown_session(name: str) -> Exception:
    from navi.cli.recall.no_matches import SessionFilterNotFound
    from navi.memory.index_paths import index_paths
    from navi.memory.read.session_list import SessionList

    return SessionFilterNotFound(name, SessionList(index_paths()).ids())


def _explain_no_hits(search: Search, typed: FilteredQuery, filters: Filters) -> None:
    from navi.cli.recall.no_matches import NOTHING_INDEXED, why_nothing_matches
    from navi.memory.index_paths import index_paths
    from navi.memory.read.search import EVERYTHING
    from navi.memory.read.session_list import SessionList

    query = typed.words

    def total(others: Filters) -> int:
        return search.total(query, others) or search.total(query, others, has_all_words=False)

    session_list = SessionList(index_paths())
    if session_list.total() == 0:
        output.note(NOTHING_INDEXED)
    elif query and total(EVERYTHING) == 0:
        output.note(f"no passage has {query}")
    else:
        as_typed = {name: filter.text for name, filter in typed.filters.items()}
        output.note(why_nothing_matches(filters, total, session_list, "passages", as_typed))
