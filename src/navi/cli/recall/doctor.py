"""`recall doctor`: check the index and say what to do."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import version

import click

from navi import __version__
from navi.cli import formats, output
from navi.cli.recall.options import json_option
from navi.domain.errors import NaviError


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `hint` says what to do about it."""

    name: str
    status: str
    """`ok`, `note` for what may be missing, or `problem`."""
    detail: str
    hint: str = ""


@click.command("doctor", help="Check the index and say what to do.")
@json_option
def command(as_json: bool) -> None:
    findings = [finding for name, check in CHECKS.items() for finding in _safely(name, check)]
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
    from navi.index.settings import searchable_fields

    yield Finding("settings", "ok", f"searchable: {', '.join(searchable_fields())}")


def _sources() -> Iterable[Finding]:
    from navi.index.agents import agents

    for name, source in agents().items():
        try:
            files = list(source.discover())
        except (NaviError, OSError) as error:
            yield Finding(formats.source(name), "problem", f"can't list its sessions: {error}")
            continue
        total = formats.size(sum(file.size for file in files))
        status = "ok" if files else "note"
        yield Finding(formats.source(name), status, f"{len(files)} session files, {total}")


def _index() -> Iterable[Finding]:
    from navi.index.health import health
    from navi.index.places import places

    where = places()
    if not where.database.exists():
        yield Finding("index", "note", f"none yet at {where.database}", "recall index")
        return
    found = health(where)
    latest = f"{found.indexed_at:%Y-%m-%d %H:%M} UTC" if found.indexed_at else "never"
    yield Finding(
        "index",
        "ok",
        f"{where.database}: {found.sessions:,} sessions ({found.archived} without file), "
        f"{found.messages:,} messages, {formats.size(found.bytes)}, last change {latest}",
    )
    if found.pending:
        detail = f"{found.pending} sessions are not fully searchable yet"
        yield Finding("pending", "note", detail, "recall index")


def _texts() -> Iterable[Finding]:
    from navi.index.places import places
    from navi.index.search import Search

    where = places()
    if where.database.exists():
        found = Search(where)
        bytes_used = sum(each.stat().st_size for each in where.texts.iterdir() if each.is_file())
        detail = f"{found.count:,} texts in {found.segments} segments"
        yield Finding("full-text", "ok", f"{detail}, {formats.size(bytes_used)}")


def _lock() -> Iterable[Finding]:
    from navi.index.lock import holder
    from navi.index.places import places

    if held := holder(places().lock):
        yield Finding("lock", "note", f"process {held.pid} runs `{held.doing}` since {held.since}")
    else:
        yield Finding("lock", "ok", "nobody is writing")


CHECKS: dict[str, Callable[[], Iterable[Finding]]] = {
    "versions": _versions,
    "settings": _settings,
    "sources": _sources,
    "index": _index,
    "full-text": _texts,
    "lock": _lock,
}


def _safely(name: str, check: Callable[[], Iterable[Finding]]) -> list[Finding]:
    try:
        return list(check())
    except NaviError as error:
        return [Finding(name, "problem", error.message, error.hint)]
