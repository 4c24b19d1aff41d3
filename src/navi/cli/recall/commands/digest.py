"""`recall digest`: what was asked, what was done, what failed and what it cost."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta

import click

from navi.base.errors import NaviError, UsageError
from navi.base.timestamps import instant
from navi.cli import formats, output
from navi.cli.recall.options import (
    clock,
    json_option,
    project_option,
    since_option,
    source_option,
    until_option,
)

DEFAULT_TIME = timedelta(days=7)
DEFAULT_ITEMS = 8


@click.command(
    "digest",
    help="Show what was asked, what was done, what failed and what it cost, for each project. "
    "Without --since, covers seven days.",
    epilog="\b\nExamples:\n"
    "  recall digest --since monday\n"
    "  recall digest --since 30d --project . --markdown > month.md\n"
    "  recall digest --since yesterday --summarize",
)
@since_option
@until_option
@project_option
@source_option
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    default=DEFAULT_ITEMS,
    show_default=True,
    help="Maximum number of items in each part; 0 for all.",
)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown.")
@click.option(
    "--summarize",
    is_flag=True,
    help="Begin with a summary by the running server's model, which sees the digest with secrets "
    "masked.",
)
@json_option
def command(
    since: datetime | None,
    until: datetime | None,
    project: str | None,
    source: str | None,
    limit: int,
    as_markdown: bool,
    summarize: bool,
    as_json: bool,
) -> None:
    from navi.cli.recall.freshness import bring_up_to_date
    from navi.memory import database
    from navi.memory.index_paths import index_paths
    from navi.memory.overview.digest import digest_json, make_digest
    from navi.memory.overview.digest_rows import digest_rows
    from navi.memory.read.statistics import Scope

    if as_json and as_markdown:
        raise UsageError("--json and --markdown can't be combined", hint="choose one of them")
    now = clock().now()
    since = since or (until or now) - DEFAULT_TIME
    paths = index_paths()
    bring_up_to_date(paths)
    with database.reading(paths) as connection:
        rows = digest_rows(connection, Scope(source, project, since, until))
    digest = make_digest(rows, since, until, now)
    summary = failure = None
    if summarize and digest.projects:
        try:
            summary = _summary(since, until, project, source)
        except NaviError as error:
            failure = error  # the digest itself needs no model
            output.complain(error)
    period = formats.period(since, until)
    if as_json:
        output.say_json({**digest_json(digest), **({"summary": summary} if summarize else {})})
    elif not digest.projects:
        _explain_nothing(since, until, project, source)
    elif as_markdown:
        from navi.memory.overview.digest_text import markdown

        output.say(markdown(digest, f"What agents did {period}", summary, limit or None))
    else:
        from navi.cli.recall.digest_view import show

        show(digest, period, summary, limit or None)
    if failure is not None:
        sys.exit(failure.exit_code)


def _summary(
    since: datetime | None, until: datetime | None, project: str | None, source: str | None
) -> str:
    from navi.client import Client, find_server

    query = {
        "since": instant(since),
        "until": instant(until),
        "project": project,
        "source": source,
    }
    output.status("the model is reading the digest …")
    try:
        return Client(find_server()).digest_summary(query)
    finally:
        output.status("")


def _explain_nothing(
    since: datetime, until: datetime | None, project: str | None, source: str | None
) -> None:
    from navi.cli.recall.no_matches import NOTHING_INDEXED, why_nothing_matches
    from navi.memory.index_paths import index_paths
    from navi.memory.read.session_list import SessionFilters, SessionList

    session_list = SessionList(index_paths())
    filters = SessionFilters(source, since, project, None, until)
    if session_list.total() == 0:
        output.note(NOTHING_INDEXED)
    elif session_list.total(filters) == 0:
        output.note(why_nothing_matches(filters, session_list.total, session_list))
    else:
        output.note(f"nothing was said {formats.period(since, until)}")
