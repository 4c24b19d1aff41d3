"""`recall restore`: bring back a session's file after its agent has deleted it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from navi.base.errors import NaviError
from navi.cli import output
from navi.cli.recall.options import clock, json_option, session_argument

if TYPE_CHECKING:
    from navi.memory.index_paths import IndexPaths
    from navi.memory.keep.kept_files import KeptFiles


@click.command(
    "restore",
    help="Put a kept session's file back where it was, so that its agent can resume the session.",
)
@session_argument
@click.option(
    "-y",
    "--yes",
    is_flag=True,
    help="If another file is in its place, replace it without asking.",
)
@json_option
def command(id: str, yes: bool, as_json: bool) -> None:
    from dataclasses import asdict

    from navi.cli.recall.freshness import bring_up_to_date
    from navi.memory.index_paths import index_paths
    from navi.memory.ingest import index_lock
    from navi.memory.keep import kept_files, restoring
    from navi.vendors.registry import sources

    def may_replace(path: str) -> bool:
        question = (
            f"{path} is a different file, perhaps a newer one. Replace it, and keep it as .bak?"
        )
        return yes or (sys.stdin.isatty() and click.confirm(question, err=True))

    paths, now = index_paths(), clock().now()
    kept = kept_files.load(paths)
    session_id = kept_id(paths, kept, id)
    with index_lock.exclusive(paths.lock, "recall restore", now, patience_seconds=15.0):
        # Read again: a pass may just have replaced the copy.
        kept = kept_files.load(paths)
        files = restoring.restore(paths, kept, sources(), session_id, now, may_replace)
    if paths.database.exists():
        bring_up_to_date(paths)
    if as_json:
        output.say_json({"session_id": session_id, "files": [asdict(each) for each in files]})
        return
    for each in files:
        output.say(f"restored {each.path}" if each.is_written else f"unchanged {each.path}")
        if each.backup:
            output.note(f"the previous file is now {each.backup}")
    output.note(f"`recall resume {session_id}` prints the command that resumes it")


def kept_id(paths: IndexPaths, kept: KeptFiles, reference: str) -> str:
    """The id of a kept session. Works without an index."""
    from navi.memory import database
    from navi.memory.keep import restoring
    from navi.memory.read.session_lookup import resolve

    if session_id := restoring.find(kept, reference.strip()):
        return session_id
    try:
        with database.reading(paths) as connection:
            session_id = resolve(connection, reference)
    except NaviError as error:
        if error.kind == "ambiguous_session":
            raise
        raise restoring.NotKept(reference) from error
    if session_id not in kept.files:
        raise restoring.NotKept(session_id)
    return session_id
