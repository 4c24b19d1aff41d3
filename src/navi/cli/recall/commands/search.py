"""`recall search`: search what agents said, thought and ran."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from navi.base.errors import UsageError
from navi.cli import output
from navi.cli.raw_option import raw_option
from navi.cli.recall.options import (
    SessionName,
    ToolName,
    json_option,
    project_option,
    since_option,
    source_option,
    until_option,
)

if TYPE_CHECKING:
    from navi.memory.read.search import Filters, Hit, Passage, Search, SearchResult

DEFAULT_LIMIT = 20
ROLES = ("user", "assistant", "system")


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
    "  recall search deploy --role user -- -staging",
)
@click.argument("query", nargs=-1, metavar="WORDS...")
@source_option
@click.option(
    "--tool", type=ToolName(), help="Only messages that used this tool, and the commands it ran."
)
@click.option(
    "--file",
    metavar="PATH",
    help="Only where this file was read or changed: a path, or the end of one.",
)
@project_option
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
    help="Show N messages around each hit.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    default=DEFAULT_LIMIT,
    show_default=True,
    help="Maximum number of passages; 0 for all.",
)
@click.option("--count", "only_count", is_flag=True, help="Print only the number of matches.")
@raw_option
@json_option
def command(
    query: tuple[str, ...],
    source: str | None,
    tool: str | None,
    file: str | None,
    project: str | None,
    since: datetime | None,
    until: datetime | None,
    role: str | None,
    session: str | None,
    sort: str,
    context: int,
    limit: int,
    only_count: bool,
    as_json: bool,
) -> None:
    """Search what agents said, thought and ran.

    A passage must contain all of the words. "quoted words" must be adjacent, prefix* matches words
    that start with it, and -word excludes passages that contain it (put it after `--`, so that it
    isn't read as an option).

    Each hit has a message number: `recall show ID --at N` shows it in context.
    """
    from navi.cli.recall.freshness import bring_up_to_date
    from navi.memory.index_paths import places
    from navi.memory.read.search import Filters, Search

    text = " ".join(query)
    if file is None:
        _require_words(text)
    where = places()
    bring_up_to_date(where)
    search = Search(where)
    if session is not None and not search.has_session(session):
        raise _unknown_session(session)
    filters = Filters(source, tool, project, since, role, session, until, file)
    if only_count:
        output.say(str(search.total(text, filters)))
        return
    results = search.find(text, filters, limit or None, by_date=sort == "date")
    if as_json:
        _print_json(search, results, context)
    elif results.hits:
        _print(search, results, text, context)
    else:
        _explain(search, text, filters)
    if limit and len(results.hits) == limit:
        total = search.total(text, filters, has_all_words=results.has_all_words)
        if total > limit:
            output.note(f"{limit} of {total:,} passages; --limit 0 for all")


def _print_json(search: Search, results: SearchResult, context: int) -> None:
    from navi.memory.read.json_views import hit_json

    hits = [hit_json(hit) for hit in results.hits]
    if context:
        for shape, hit in zip(hits, results.hits, strict=True):
            shape["context"] = [passage._asdict() for passage in search.around(hit, context)]
    output.say_json(hits)


def _print(search: Search, results: SearchResult, text: str, context: int) -> None:
    from navi.cli.recall.hits import show

    def around(hit: Hit) -> list[Passage]:
        return search.around(hit, context) if context else []

    if not results.has_all_words:
        output.note("no passage has all of these words; these have some of them")
    show(results.hits, around, text)


def _require_words(text: str) -> None:
    from navi.memory.read.query import read_query

    if read_query(text):
        return
    problem = (
        f"{text.strip()!r} contains no letters or digits"
        if text.strip()
        else "no words to search for"
    )
    raise UsageError(
        problem,
        hint="try `recall search auth bug`; `recall list` shows the latest sessions",
    )


def _unknown_session(name: str) -> Exception:
    from navi.cli.recall.filters import SessionFilterNotFound
    from navi.memory.index_paths import places
    from navi.memory.read.session_list import SessionList

    return SessionFilterNotFound(name, SessionList(places()).ids())


def _explain(search: Search, text: str, filters: Filters) -> None:
    from navi.cli.recall.filters import NOTHING_INDEXED, reason
    from navi.memory.index_paths import places
    from navi.memory.read.search import EVERYTHING
    from navi.memory.read.session_list import SessionList

    def total(others: Filters) -> int:
        return search.total(text, others) or search.total(text, others, has_all_words=False)

    session_list = SessionList(places())
    if session_list.total() == 0:
        output.note(NOTHING_INDEXED)
    elif text and total(EVERYTHING) == 0:
        output.note(f"no passage has {text}")
    else:
        output.note(reason(filters, total, session_list, "passages"))
