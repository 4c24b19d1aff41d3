"""`recall doctor`: check the index and suggest fixes."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

import click

from navi import __version__
from navi.base.errors import NaviError
from navi.base.file_modes import exposure
from navi.cli import formats
from navi.cli.finding import Finding, report
from navi.cli.recall.options import json_option

if TYPE_CHECKING:
    from navi.memory.index_paths import IndexPaths
    from navi.memory.keep.kept_files import KeptFile
    from navi.memory.read.health import Health

LIST_LIMIT = 20
"""How many files or kinds of lines to list per problem."""


@click.command("doctor", help="Check the index and suggest fixes.")
@json_option
def command(as_json: bool) -> None:
    findings = [finding for name, check in CHECKS.items() for finding in _run_check(name, check)]
    report(findings, as_json=as_json)


def _versions() -> Iterable[Finding]:
    engines = ", ".join(f"{name} {version(name)}" for name in ("duckdb", "tantivy"))
    detail = f"recall {__version__}, Python {platform.python_version()}, {engines}"
    yield Finding("versions", "ok", detail)


def _settings() -> Iterable[Finding]:
    from navi.memory.index_settings import searchable_fields

    yield Finding("settings", "ok", f"searchable: {', '.join(searchable_fields())}")


def _sources() -> Iterable[Finding]:
    from navi.vendors.registry import sources

    for name, source in sources().items():
        try:
            files = list(source.discover())
        except (NaviError, OSError) as error:
            yield Finding(formats.source(name), "problem", f"can't list its sessions: {error}")
            continue
        detail = formats.count(len(files), "session")
        if source.has_session_files:
            total = formats.size(sum(file.size for file in files))
            detail = f"{formats.count(len(files), 'session file')}, {total}"
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
    from navi.memory.index_paths import index_paths
    from navi.memory.read.health import health

    paths = index_paths()
    if not paths.database.exists():
        yield Finding("index", "note", f"none yet at {paths.database}", "recall index")
        return
    state = health(paths, SystemClock().now())
    latest = f"{state.indexed_at:%Y-%m-%d %H:%M} UTC" if state.indexed_at else "never"
    silent = ""
    if state.silent_files:
        silent = f", {formats.count(state.silent_files, 'file')} without messages"
    damage = list(_damage(state))
    yield Finding(
        "index",
        "note" if damage else "ok",
        f"{paths.database}: {formats.count(state.sessions, 'session')} "
        f"({state.archived} whose file is gone), {formats.count(state.messages, 'message')}"
        f"{silent}, {formats.size(state.bytes)}, last change {latest}",
    )
    yield _access(paths)
    if state.pending:
        detail = f"not fully searchable yet: {formats.count(state.pending, 'session')}"
        yield Finding("pending", "note", detail, "recall index")
    yield from damage


def _access(paths: IndexPaths) -> Finding:
    folder = paths.database.parent
    exposed = exposure(str(folder), paths.own_files())
    if exposed is None:
        return Finding("access", "ok", f"only you can read {folder}")
    status = "problem" if exposed.is_serious else "note"
    return Finding("access", status, f"{folder}: {exposed.detail}", exposed.hint)


def _damage(state: Health) -> Iterable[Finding]:
    """Findings about unreadable parts of the agents' files."""
    from navi.memory.file_damage import formatted_lines

    failed = [file.path for file in state.damaged if not file.is_readable]
    yield from _list_files("failed", failed, "not a transcript: none of its lines can be read")
    for file in [file for file in state.damaged if file.is_readable][:LIST_LIMIT]:
        lines = formatted_lines(file.bad_lines, file.numbers)
        yield Finding("damaged", "note", f"{file.path}: left out {lines} that could not be read")
    yield from _more("damaged", len(state.damaged) - len(failed))
    yield from _list_files("damaged", state.cut_off, "its last line is cut off and was left out")
    yield from _list_files("half line", state.being_written, "its last line is still being written")
    for kind in state.unknown[:LIST_LIMIT]:
        files = "1 file" if kind.files == 1 else f"{kind.files:,} files"
        detail = f"{formats.source(kind.source)}: {formatted_lines(kind.lines)} of unknown kind "
        detail += f"{kind.kind!r} in {files}, left out"
        yield Finding(
            "unknown", "note", detail, "update recall; a newer version may read this kind"
        )
    yield from _more("unknown", len(state.unknown))


def _list_files(name: str, paths: Sequence[str], problem: str) -> Iterable[Finding]:
    for path in paths[:LIST_LIMIT]:
        yield Finding(name, "note", f"{path}: {problem}")
    yield from _more(name, len(paths))


def _more(name: str, count: int) -> Iterable[Finding]:
    if count > LIST_LIMIT:
        yield Finding(name, "note", f"… and {count - LIST_LIMIT:,} more")


def _texts() -> Iterable[Finding]:
    from navi.memory.index_paths import index_paths
    from navi.memory.read.search import Search

    paths = index_paths()
    if paths.database.exists():
        search = Search(paths)
        bytes_used = sum(each.stat().st_size for each in paths.texts.iterdir() if each.is_file())
        detail = (
            f"{formats.count(search.count, 'text')} in {formats.count(search.segments, 'segment')}"
        )
        yield Finding("full-text", "ok", f"{detail}, {formats.size(bytes_used)}")


def _kept() -> Iterable[Finding]:
    from navi.memory.index_paths import index_paths
    from navi.memory.keep import file_copy, keep_setting, keeping, kept_files

    paths = index_paths()
    which = "every session" if keep_setting.keeps_all() else "the chosen sessions"
    kept = kept_files.load(paths)
    original, copies = keeping.bytes_in(kept)
    detail = f"keeps {which}: {formats.count(len(kept.files), 'file')}"
    if kept.files:
        detail += f", {formats.size(original)} in {formats.size(copies)}"
    yield Finding("kept", "ok", detail)
    missing = [
        (id, file) for id, file in kept.files.items() if not file_copy.is_whole(paths.kept, file)
    ]
    for id, file in missing[:LIST_LIMIT]:
        detail = f"{file.path}: its kept copy {file.copy} is missing or cut off"
        hint = f"recall keep {id}  (copies it again, if the original is still there)"
        yield Finding("kept", "problem", detail, hint)
    yield from _more("kept", len(missing))
    behind = [each for each in kept.files.values() if _has_changed(each)]
    if behind:
        detail = f"changes to {formats.count(len(behind), 'file')} are not copied yet"
        yield Finding("kept", "note", detail, "recall index")


def _has_changed(kept: KeptFile) -> bool:
    """Whether the original still exists and differs from its copy."""
    try:
        status = os.stat(kept.path)
    except OSError:
        return False
    return (status.st_mtime, status.st_size) != (kept.mtime, kept.size)


def _deletion() -> Iterable[Finding]:
    from navi.base.system_clock import SystemClock
    from navi.memory.index_paths import index_paths
    from navi.memory.keep import kept_files
    from navi.memory.keep.deletion import WARNING_TIME, deletion
    from navi.vendors.registry import sources

    now = SystemClock().now()
    kept = kept_files.load(index_paths()).files.values()
    for name, source in sources().items():
        kept_paths = {file.path for file in kept if file.source == name}
        plan = deletion(source, source.discover(), kept_paths, now)
        if plan is None or not plan.files:
            continue
        agent = formats.source(name)
        rule = f"{agent} deletes sessions {plan.after.days} days after their last change"
        if plan.soon and plan.first_at is not None:
            first = f"the first on {plan.first_at.astimezone():%Y-%m-%d}"
            if plan.first_at <= now:
                first = "the first when it starts next"
            detail = (
                f"{rule}: {plan.soon:,} of {formats.count(plan.files, 'session')} will be deleted "
                f"within {WARNING_TIME.days} days, {first}"
            )
            hint = "`recall keep --all` keeps their files; `recall restore ID` brings one back"
            yield Finding("deletion", "note", detail, hint)
        else:
            detail = f"{rule}; no unkept session is due within {WARNING_TIME.days} days"
            yield Finding("deletion", "ok", detail)


def _meaning() -> Iterable[Finding]:
    from navi.memory.index_paths import index_paths
    from navi.memory.semantic.semantic_state import semantic_state

    state = semantic_state(index_paths())
    if state.problem is None:
        status = "note" if state.pending_sessions else "ok"
        hint = "recall index --embed  (a server does it in the background)"
        size = f", {formats.size(state.bytes)}"
        yield Finding(
            "meaning", status, f"{state.sentence}{size}", hint if state.pending_sessions else ""
        )
    else:
        status = "note" if state.is_wanted else "ok"
        yield Finding("meaning", status, state.sentence, state.problem.hint)


def _hosts() -> Iterable[Finding]:
    from navi.base.system_clock import SystemClock
    from navi.memory.hosts import peers, received, this_machine
    from navi.memory.index_paths import index_paths

    paths = index_paths()
    own = this_machine.existing(paths)
    if own is None:
        yield Finding("hosts", "ok", "no sync with another machine yet")
        return
    yield Finding("hosts", "ok", f"on other machines, this one is called {own.name} ({own.id})")
    for host in received.hosts(paths):
        count = formats.count(received.session_count(paths, host.id), "session")
        yield Finding("hosts", "ok", f"{host.name} ({host.id}): {count}")
    _, problems = received.sessions(paths)
    hint = "remove the file; the next sync gets the session again"
    yield from (Finding("hosts", "problem", each, hint) for each in problems[:LIST_LIMIT])
    yield from _more("hosts", len(problems))
    for name, peer in peers.load(paths).items():
        when = "never"
        if peer.synced_at is not None:
            when = formats.age(peer.synced_at, SystemClock().now())
        masked = ", secrets masked" if peer.is_masked else ""
        yield Finding("peers", "ok", f"{formats.short_path(name)}: last sync {when}{masked}")


def _lock() -> Iterable[Finding]:
    from navi.memory.index_paths import index_paths
    from navi.memory.ingest.index_lock import holder

    if process := holder(index_paths().lock):
        yield Finding(
            "lock",
            "note",
            process.sentence,
        )
    else:
        yield Finding("lock", "ok", "no process is writing")


CHECKS: dict[str, Callable[[], Iterable[Finding]]] = {
    "versions": _versions,
    "settings": _settings,
    "sources": _sources,
    "index": _index,
    "kept": _kept,
    "deletion": _deletion,
    "full-text": _texts,
    "meaning": _meaning,
    "hosts": _hosts,
    "lock": _lock,
}


def _run_check(name: str, check: Callable[[], Iterable[Finding]]) -> list[Finding]:
    try:
        return list(check())
    except NaviError as error:
        return [Finding(name, "problem", error.message, error.hint)]
