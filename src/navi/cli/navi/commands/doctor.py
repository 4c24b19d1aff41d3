"""`navi doctor`: check the installation and suggest fixes."""

from __future__ import annotations

import http.client
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial

import click

from navi import __version__
from navi.base.errors import NaviError
from navi.base.file_modes import exposure, person_umask
from navi.base.system_clock import SystemClock
from navi.base.timezone import zone_name
from navi.cli import formats, output
from navi.client import find_server
from navi.live.runtime import server_files, settings
from navi.vendors import registry


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. `hint` says what to do about it."""

    name: str
    status: str
    """`ok`, `note` (something may be missing) or `problem`."""
    detail: str
    hint: str = ""


@click.command("doctor", help="Check the installation and suggest fixes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    findings = [_run_check(name, check) for name, check in CHECKS.items()]
    findings += [
        _run_check(f"{agent.program} setup", partial(_setup, name))
        for name, agent in registry.settings().items()
    ]
    programs = [vendor.command for vendor in registry.vendors().values() if vendor.command]
    findings += [_program(name) for name in [*programs, "tmux"]]
    if as_json:
        output.say_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            output.say(f"{finding.status:8} {finding.name:12} {finding.detail}")
            if finding.hint:
                output.say(f"{'':21} hint: {finding.hint}")
    sys.exit(1 if any(finding.status == "problem" for finding in findings) else 0)


def _versions() -> Finding:
    detail = f"navi {__version__}, Python {platform.python_version()}, {platform.system()}"
    return Finding("versions", "ok", detail)


def _settings() -> Finding:
    settings.load()
    path = server_files.settings_file()
    return Finding("settings", "ok", str(path) if path.exists() else "defaults (no settings file)")


def _timezone() -> Finding:
    chosen = settings.load()
    name = zone_name(settings.timezone_of(chosen))
    variable = os.environ.get("TZ", "")
    if chosen.recalls.timezone is not None or not variable or variable.endswith(name):
        return Finding("time zone", "ok", name)
    return Finding(
        "time zone",
        "note",
        f"{name}; TZ={variable} is not an IANA zone name, and this is the closest match",
        "set `timezone` under [recalls] in the settings",
    )


def _model() -> Finding:
    model = settings.model_of(settings.load())
    if model == "scripted":
        return Finding(
            "model",
            "note",
            "scripted: a demo model that only echoes what you write",
            "for a real model, set ANTHROPIC_API_KEY, OPENAI_API_KEY or NAVI_MODEL",
        )
    return Finding("model", "ok", model)


def _home() -> Finding:
    folder = server_files.prepare_home()
    exposed = exposure(str(folder), server_files.own_files())
    if exposed is None:
        return Finding("home", "ok", str(folder))
    status = "problem" if exposed.is_serious else "note"
    return Finding("home", status, f"{folder}: {exposed.detail}", exposed.hint)


def _store() -> Finding:
    from navi.live.store.engine import schema
    from navi.live.store.engine.dialects.registry import dialect_for

    server_files.prepare_home()
    url = server_files.database_url()
    schema.prepare(url)
    return Finding("store", "ok", f"{dialect_for(url).title}, schema {schema.HEAD}")


def _set_aside() -> Finding:
    from navi.live.store.damage import set_aside
    from navi.live.store.engine import schema
    from navi.live.store.engine.connection import open_engine

    server_files.prepare_home()
    schema.prepare(server_files.database_url())
    engine = open_engine(server_files.database_url())
    try:
        with engine.connect() as connection:
            rows = set_aside.list_rows(connection)
    finally:
        engine.dispose()
    if not rows:
        return Finding("set aside", "ok", "nothing")
    newest = rows[0]
    return Finding(
        "set aside",
        "problem",
        f"{len(rows)} damaged rows; the newest: {newest.kind} {newest.row_id}: {newest.error}",
        "everything else keeps working; the table set_aside holds their contents",
    )


def _index() -> Finding:
    from navi.memory.index_paths import places as index_places
    from navi.memory.index_settings import searchable_fields
    from navi.memory.ingest.freshness import freshness
    from navi.memory.resume import agents

    where, now = index_places(), SystemClock().now()
    if not where.database.exists():
        return Finding("index", "note", "none yet", "create it with `recall index`")
    state = freshness(where, agents(), searchable_fields(), now)
    if state.is_followed:
        return Finding("index", "ok", "up to date: every change is indexed as it happens")
    if state.is_up_to_date:
        return Finding("index", "ok", "up to date")
    detail = "incomplete"
    if state.refreshed_at is not None:
        age = formats.age(state.refreshed_at, now)
        detail = f"last updated {age}; files have changed since"
    return Finding(
        "index", "note", detail, "run `recall index`, or start the server, to index them"
    )


def _server() -> Finding:
    server = settings.load().server
    connection = http.client.HTTPConnection(server.host, server.port, timeout=2)
    try:
        connection.request("GET", "/health")
        body = json.loads(connection.getresponse().read())
        version = body["version"]
    except ConnectionRefusedError:
        return Finding(
            "server",
            "note",
            f"not running on {server.host}:{server.port}",
            "start it with `navi serve`",
        )
    except OSError as error:
        detail = f"no answer from {server.host}:{server.port}: {error}"
        return Finding("server", "problem", detail, "check `host` and `port` under [server]")
    except (http.client.HTTPException, ValueError, KeyError, TypeError):
        return Finding(
            "server",
            "problem",
            f"another program answers on {server.host}:{server.port}",
            f"use another port: `navi serve --port {server.port + 1}`",
        )
    finally:
        connection.close()
    return Finding("server", "ok", f"navi {version} on {server.host}:{server.port}")


def _setup(name: str) -> Finding:
    """Whether Navi's entries in the agent's settings point to this Navi."""
    agent = registry.settings()[name]
    title, repair = f"{agent.program} setup", f"repair it with `navi setup {name}`"
    if not agent.is_installed():
        hint = f"connect {agent.title} to Navi with `navi setup {name}`"
        return Finding(title, "note", "none", hint)
    if defects := agent.defects():
        return Finding(title, "problem", "; ".join(defects), repair)
    if targets := agent.foreign_targets(find_server().address):
        return Finding(title, "note", f"points to another Navi: {', '.join(targets)}", repair)
    return Finding(title, "ok", "hooks and tools point to this Navi")


def _program(name: str) -> Finding:
    path = shutil.which(name)
    if path is None:
        return Finding(name, "note", "not found on PATH")
    flag = "-V" if name == "tmux" else "--version"
    try:
        version = subprocess.run(
            [path, flag],
            capture_output=True,
            text=True,
            timeout=10,
            stdin=subprocess.DEVNULL,
            umask=person_umask(),
        ).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return Finding(name, "problem", f"{path} does not report its version")
    return Finding(name, "ok", version.splitlines()[0] if version else path)


CHECKS: dict[str, Callable[[], Finding]] = {
    "versions": _versions,
    "settings": _settings,
    "time zone": _timezone,
    "model": _model,
    "home": _home,
    "store": _store,
    "set aside": _set_aside,
    "index": _index,
    "server": _server,
}


def _run_check(name: str, check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except NaviError as error:
        return Finding(name, "problem", error.message, error.hint)
