"""`recall doctor`: check the index and suggest fixes."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

import click

from navi import __version__
from navi.base.errors import NaviError
from navi.base.file_modes import exposure
from navi.cli import formats, output
from navi.cli.recall.options import json_option

if TYPE_CHECKING:
    from navi.memory.index_paths import Places
    from navi.memory.read.health import Health

LIST_LIMIT = 20
"""How many files or kinds of lines to list per problem."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. `hint` says what to do about it."""

    name: str
    status: str
    """`ok`, `note` (something may be missing) or `problem`."""
    detail: str
    hint: str = ""


@click.command("doctor", help="Check the index and suggest fixes.")
@json_option
def command(as_json: bool) -> None:
    findings = [finding for name, check in CHECKS.items() for finding in _run_check(name, check)]
    if as_json:
        output.say_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            output.say(f"{finding.status:8} {finding.name:12} {finding.detail}")
            if finding.hint:
                output.say(f"{'':21} hint: {finding.hint}")
    sys.exit(1 if any(finding.status == "problem" for finding in findings) else 0)


def _versions() -> Iterable[Finding]:
    engines = ", ".join(f"{name} {version(name)}" for name in ("duckdb", "tantivy"))
    detail = f"recall {__version__}, Python {platform.python_version()}, {engines}"
    yield Finding("versions", "ok", detail)


def _settings() -> Iterable[Finding]:
    from navi.memory.index_settings import searchable_fields

    yield Finding("settings", "ok", f"searchable: {', '.join(searchable_fields())}")


def _sources() -> Iterable[Finding]:
    from navi.memory.resume import agents

    for name, source in agents().items():
        try:
            files = list(source.discover())
        except (NaviError, OSError) as error:
            yield Finding(formats.source(name), "problem", f"can't list its sessions: {error}")
            continue
        detail = f"{len(files)} sessions"
        if source.keeps_files:
            total = formats.size(sum(file.size for file in files))
            detail = f"{len(files)} session files, {total}"
        yield Finding(formats.source(name), "ok" if files else "note", detail)
        unreadable = list(source.unreadable)
        unreadable += [file.path for file in files if _is_unreadable(file.path)]
        for path in unreadable:
            detail = f"{path}: can't be read, so it is not indexed"
            yield Finding(
                formats.source(name), "problem", detail, "give yourself permission to read it"
            )


def _is_unreadable(path: str) -> bool:
    try:
        with open(path, "rb"):
            return False
    except FileNotFoundError:
        return False  # some sources don't keep one file per session
    except OSError:
        return True


def _index() -> Iterable[Finding]:
    from navi.base.system_clock import SystemClock
    from navi.memory.index_paths import places
    from navi.memory.read.health import health

    where = places()
    if not where.database.exists():
        yield Finding("index", "note", f"none yet at {where.database}", "recall index")
        return
    state = health(where, SystemClock().now())
    latest = f"{state.indexed_at:%Y-%m-%d %H:%M} UTC" if state.indexed_at else "never"
    silent = f", {state.silent_files} files without messages" if state.silent_files else ""
    damage = list(_damage(state))
    yield Finding(
        "index",
        "note" if damage else "ok",
        f"{where.database}: {state.sessions:,} sessions ({state.archived} whose file is gone), "
        f"{state.messages:,} messages{silent}, {formats.size(state.bytes)}, last change {latest}",
    )
    yield _access(where)
    if state.pending:
        detail = f"{state.pending} sessions are not fully searchable yet"
        yield Finding("pending", "note", detail, "recall index")
    yield from damage


def _access(where: Places) -> Finding:
    folder = where.database.parent
    exposed = exposure(str(folder), where.own_files())
    if exposed is None:
        return Finding("access", "ok", f"only you can read {folder}")
    status = "problem" if exposed.is_serious else "note"
    return Finding("access", status, f"{folder}: {exposed.detail}", exposed.hint)


def _damage(state: Health) -> Iterable[Finding]:
    """What the index could not read from its files."""
    from navi.memory.file_damage import formatted_lines

    failed = [file.path for file in state.damaged if not file.is_readable]
    yield from _list_files("failed", failed, "not a transcript: none of its lines can be read")
    for file in [file for file in state.damaged if file.is_readable][:LIST_LIMIT]:
        lines = formatted_lines(file.bad_lines, file.numbers)
        yield Finding(
            "damaged", "note", f"{file.path}: {lines} could not be read and were left out"
        )
    yield from _more("damaged", len(state.damaged) - len(failed))
    yield from _list_files("damaged", state.cut_off, "its last line is cut off and was left out")
    yield from _list_files("half line", state.being_written, "its last line is still being written")
    for kind in state.unknown[:LIST_LIMIT]:
        files = "1 file" if kind.files == 1 else f"{kind.files:,} files"
        detail = f"{formats.source(kind.source)}: {formatted_lines(kind.lines)} of unknown kind "
        detail += f"{kind.kind!r} in {files}, left out"
        yield Finding("unknown", "note", detail, "update recall; a newer version may read it")
    yield from _more("unknown", len(state.unknown))


def _list_files(name: str, paths: Sequence[str], problem: str) -> Iterable[Finding]:
    for path in paths[:LIST_LIMIT]:
        yield Finding(name, "note", f"{path}: {problem}")
    yield from _more(name, len(paths))


def _more(name: str, count: int) -> Iterable[Finding]:
    if count > LIST_LIMIT:
        yield Finding(name, "note", f"… and {count - LIST_LIMIT:,} more")


def _texts() -> Iterable[Finding]:
    from navi.memory.index_paths import places
    from navi.memory.read.search import Search

    where = places()
    if where.database.exists():
        search = Search(where)
        bytes_used = sum(each.stat().st_size for each in where.texts.iterdir() if each.is_file())
        detail = f"{search.count:,} texts in {search.segments} segments"
        yield Finding("full-text", "ok", f"{detail}, {formats.size(bytes_used)}")


def _lock() -> Iterable[Finding]:
    from navi.memory.index_paths import places
    from navi.memory.ingest.index_lock import holder

    if held := holder(places().lock):
        yield Finding(
            "lock", "note", f"process {held.pid} has been running `{held.doing}` since {held.since}"
        )
    else:
        yield Finding("lock", "ok", "no process is writing")


CHECKS: dict[str, Callable[[], Iterable[Finding]]] = {
    "versions": _versions,
    "settings": _settings,
    "sources": _sources,
    "index": _index,
    "full-text": _texts,
    "lock": _lock,
}


def _run_check(name: str, check: Callable[[], Iterable[Finding]]) -> list[Finding]:
    try:
        return list(check())
    except NaviError as error:
        return [Finding(name, "problem", error.message, error.hint)]
