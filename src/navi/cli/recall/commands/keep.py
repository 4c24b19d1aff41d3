"""`recall keep`: keep copies of session files that agents delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from navi.base.control_characters import one_line
from navi.base.errors import InvalidInput, NotFound, UsageError
from navi.cli import formats, output
from navi.cli.confirmation import require_confirmation
from navi.cli.recall.options import SessionName, clock, json_option
from navi.cli.table import Column

if TYPE_CHECKING:
    from navi.memory.index_paths import IndexPaths
    from navi.memory.keep.kept_files import KeptFile, KeptFiles

PATIENCE_SECONDS = 15.0
"""How long to wait for a pass of the index to end."""

Selection = list[tuple[str, str, str]]
"""The id, source and path of each selected session."""


@click.command(
    "keep",
    help="Keep compressed copies of session files, so that `recall restore` can bring them back "
    "after their agent has deleted them. Without ID, list the kept files.",
    epilog="\b\nExamples:\n  recall keep 712f\n  recall keep --all\n  recall keep --off 712f",
)
@click.argument("ids", nargs=-1, type=SessionName(), metavar="[ID]...")
@click.option("--all", "is_all", is_flag=True, help="Keep every session that still has its file.")
@click.option(
    "--off", "is_off", is_flag=True, help="Stop keeping copies, and delete those that exist."
)
@click.option("-y", "--yes", is_flag=True, help="With --off: delete without asking.")
@json_option
def command(ids: tuple[str, ...], is_all: bool, is_off: bool, yes: bool, as_json: bool) -> None:
    from navi.memory.index_paths import index_paths

    paths = index_paths()
    if ids and is_all:
        raise UsageError("give ids or --all, not both", hint="recall keep --all")
    if is_off:
        if not ids and not is_all:
            raise UsageError("--off needs ids or --all", hint="`recall keep` lists what is kept")
        _stop(paths, ids, yes, as_json)
    elif ids or is_all:
        _keep(paths, ids, as_json)
    else:
        _list(paths, as_json)


def _keep(paths: IndexPaths, ids: tuple[str, ...], as_json: bool) -> None:
    """Keep these sessions, or all if `ids` is empty."""
    from navi.cli.recall.freshness import bring_up_to_date
    from navi.memory import database
    from navi.memory.ingest import index_lock
    from navi.memory.keep import keep_setting, keeping, kept_files
    from navi.vendors.registry import sources

    bring_up_to_date(paths)
    all_sources = sources()
    with database.reading(paths) as connection:
        chosen = _every_file(connection) if not ids else _files_of(connection, ids)
    chosen = [each for each in chosen if all_sources[each[1]].has_session_files]

    def show_progress(number: int) -> None:
        if number % 20 == 0:
            output.status(f"keeping: {number:,} of {formats.count(len(chosen), 'file')}")

    with index_lock.exclusive(
        paths.lock, "recall keep", clock().now(), patience_seconds=PATIENCE_SECONDS
    ):
        result = keeping.keep(paths, all_sources, chosen, show_progress)
    output.status("")
    kept = kept_files.load(paths)
    files = {each: kept.files[each] for each, _, _ in chosen if each in kept.files}
    for warning in result.warnings:
        output.note(f"warning: {warning}")
    if as_json:
        output.say_json([_json(*each) for each in files.items()])
    else:
        sizes = _sizes(files.values())
        output.say(f"keeping {formats.count(len(files), 'file')}, {sizes}")
    if not ids and not keep_setting.keeps_all():
        output.note('to keep new sessions too, set `sessions = "all"` under [keep] in the settings')


def _every_file(connection: Any) -> Selection:
    rows: Selection = connection.execute(
        "SELECT id, source, source_path FROM sessions WHERE NOT is_archived AND host IS NULL "
        "ORDER BY file_mtime"
    ).fetchall()
    return rows


def _files_of(connection: Any, ids: tuple[str, ...]) -> Selection:
    """The files of these sessions and of their sub-agents."""
    from navi.memory.read.session_lookup import resolve, session
    from navi.vendors.registry import sources

    chosen: dict[str, tuple[str, str, str]] = {}
    for reference in ids:
        record = session(connection, resolve(connection, reference))
        if record["host"] is not None:
            raise InvalidInput(
                f"session {record['id']} is on {record['host']}, and so is its file",
                hint=f"on {record['host']}: recall keep {record['id']}",
            )
        if record["source"] == "navi":
            raise InvalidInput(
                f"session {record['id']} is Navi's own, and Navi deletes no sessions by itself",
                hint="keep sessions of other agents",
            )
        if record["is_archived"]:
            raise NotFound(
                f"the file of session {record['id']} is gone",
                hint=f"`recall keep` shows whether it was kept; `recall show {record['id']}` "
                "shows what was indexed",
            )
        chosen[record["id"]] = (record["id"], record["source"], record["source_path"])
        source = sources()[record["source"]]
        for row in connection.execute(
            "SELECT id, source, source_path FROM sessions WHERE source = ? AND is_subagent "
            "AND NOT is_archived",
            [record["source"]],
        ).fetchall():
            if source.parent_path(row[2]) == record["source_path"]:
                chosen[row[0]] = row
    return list(chosen.values())


def _stop(paths: IndexPaths, ids: tuple[str, ...], yes: bool, as_json: bool) -> None:
    from navi.memory.ingest import index_lock
    from navi.memory.keep import keeping, kept_files
    from navi.vendors.registry import sources

    all_sources = sources()
    with index_lock.exclusive(
        paths.lock, "recall keep --off", clock().now(), patience_seconds=PATIENCE_SECONDS
    ):
        kept = kept_files.load(paths)
        session_ids = [_kept_id(paths, kept, each) for each in ids] if ids else list(kept.files)
        last_copies = [
            kept.files[each]
            for each in session_ids
            if each in kept.files
            and keeping.is_gone(kept.files[each], all_sources.get(kept.files[each].source))
        ]
        if last_copies and not yes:
            files = formats.count(len(last_copies), "file")
            require_confirmation(
                f"The originals of {files} are gone; these are the last copies. Delete them?"
            )
        removed = keeping.stop(paths, all_sources, session_ids)
    if as_json:
        output.say_json({"session_ids": session_ids, "bytes": sum(e.copy_size for e in removed)})
        return
    output.say(f"deleted {formats.count(len(removed), 'kept file')}, {_sizes(removed)}")


def _kept_id(paths: IndexPaths, kept: KeptFiles, reference: str) -> str:
    from navi.cli.recall.commands.restore import kept_id
    from navi.memory import database
    from navi.memory.keep.keep_setting import keeps_all
    from navi.memory.keep.restoring import NotKept
    from navi.memory.read.session_lookup import resolve

    try:
        return kept_id(paths, kept, reference)
    except NotKept:
        if not keeps_all():
            raise
    # A session can be excluded before it has a copy.
    with database.reading(paths) as connection:
        return resolve(connection, reference)


def _list(paths: IndexPaths, as_json: bool) -> None:
    from navi.memory.keep import keeping, kept_files
    from navi.vendors.registry import sources

    all_sources = sources()
    kept = kept_files.load(paths)
    rows = []
    for session_id, file in sorted(kept.files.items(), key=lambda each: -each[1].mtime):
        is_gone = keeping.is_gone(file, all_sources.get(file.source))
        rows.append((session_id, file, is_gone))
    if as_json:
        output.say_json([{**_json(id, file), "is_gone": is_gone} for id, file, is_gone in rows])
        return
    if not rows:
        output.note("nothing is kept; `recall keep ID` or `recall keep --all` keeps sessions")
        return
    output.table(
        [
            Column("ID", style="cyan"),
            Column("SOURCE", rank=1),
            Column("SIZE", is_number=True, rank=2),
            Column("COPY", is_number=True),
            Column("ORIGINAL"),
            Column("PATH", needed_width=24, keeps_end=True, style="dim"),
        ],
        [
            [
                session_id,
                formats.source(file.source),
                formats.size(file.size),
                formats.size(file.copy_size),
                "gone" if is_gone else "there",
                one_line(formats.short_path(file.path)),
            ]
            for session_id, file, is_gone in rows
        ],
    )
    output.note(f"{formats.count(len(rows), 'kept file')}, {_sizes(kept.files.values())}")


def _sizes(files: Any) -> str:
    """`22 MB in 3 MB`: the sizes of the originals and of their copies."""
    sizes = [(file.size, file.copy_size) for file in files]
    original, copies = (sum(each) for each in zip(*sizes, strict=True)) if sizes else (0, 0)
    return f"{formats.size(original)} in {formats.size(copies)}"


def _json(session_id: str, file: KeptFile) -> dict[str, Any]:
    return {
        "session_id": session_id,
        "source": file.source,
        "path": file.path,
        "size": file.size,
        "copy_size": file.copy_size,
    }
