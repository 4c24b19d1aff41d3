"""`navi doctor`: check the installation and suggest fixes."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import click

from navi import __version__
from navi.base import documentation
from navi.base.errors import NaviError, NoModel
from navi.base.file_modes import exposure, person_umask
from navi.base.system_clock import SystemClock
from navi.base.timezone import zone_name
from navi.cli import formats
from navi.cli.finding import Finding, report
from navi.cli.navi.installation import is_temporary
from navi.cli.navi.installed_agents import fallback_agent, installed_agents
from navi.client import find_server, lasting_address
from navi.client.exchange import exchange
from navi.live.runtime import server_files, settings
from navi.vendors import registry

COMMAND_NAMES = ("navi", "recall", "sm", "heynavi")
HEALTH_SECONDS = 2.0
FAILURES_SHOWN_FOR = timedelta(days=7)
"""How long to report a notification that could not be delivered."""


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
    report(list(_without_repeats(findings)), as_json=as_json)


def _without_repeats(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings, with each problem described once: invalid settings stop several checks."""
    first_names: dict[str, str] = {}
    for finding in findings:
        if finding.status != "problem":
            yield finding
            continue
        first = first_names.setdefault(finding.detail, finding.name)
        if first == finding.name:
            yield finding
        else:
            yield Finding(finding.name, "problem", f"not checked: see {first}")


def _versions() -> Finding:
    detail = f"navi {__version__}, Python {platform.python_version()}, {platform.system()}"
    return Finding("versions", "ok", detail)


def _settings() -> Finding:
    settings.load()
    path = server_files.settings_file()
    return Finding("settings", "ok", str(path) if path.exists() else "defaults (no settings file)")


def _timezone() -> Finding:
    config = settings.load()
    name = zone_name(settings.timezone_of(config))
    variable = os.environ.get("TZ", "")
    if config.recalls.timezone is not None or not variable or variable.endswith(name):
        return Finding("time zone", "ok", name)
    return Finding(
        "time zone",
        "note",
        f"{name}; TZ={variable} is not an IANA zone name, and this is the closest match",
        "set `timezone` under [recalls] in the settings",
    )


def _model() -> Finding:
    config = settings.load()
    model = settings.model_of(config)
    if model is None and (agent := fallback_agent(config)) is not None:
        return Finding("model", "ok", f"none is set up; new sessions use {agent.title}")
    if model is None:
        return Finding("model", "note", NoModel().message, NoModel().hint)
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
        f"{formats.count(len(rows), 'damaged row')}; the newest: {newest.kind} {newest.row_id}: "
        f"{newest.error}",
        "everything else keeps working; the table set_aside holds their contents",
    )


def _notifications() -> Finding:
    from navi.live.model.notification import NotificationState
    from navi.live.runtime.notifications.channel_setup import channels_of
    from navi.live.store import notifications
    from navi.live.store.engine import schema
    from navi.live.store.engine.connection import open_engine

    names = [channel.name for channel in channels_of(settings.load().notifications)]
    server_files.prepare_home()
    schema.prepare(server_files.database_url())
    engine = open_engine(server_files.database_url())
    try:
        with engine.connect() as connection:
            rows = notifications.list_notifications(connection, user_id=None)
    finally:
        engine.dispose()
    since = SystemClock().now() - FAILURES_SHOWN_FOR
    failed = [
        row for row in rows if row.state is NotificationState.FAILED and row.created_at > since
    ]
    stuck = [row for row in rows if row.state is NotificationState.WAITING and row.errors]
    if failed or stuck:
        counts = f"{len(failed)} could not be delivered, {len(stuck)} still waiting for a channel"
        newest = (failed or stuck)[0]
        detail = f"{counts}; the newest: {newest.title}: {'; '.join(newest.errors)}"
        status = "problem" if failed else "note"
        return Finding("notify", status, detail, "try the channels with `navi notify test`")
    if not names:
        hint = f"{documentation.page('how-to/notifications')} explains how to set one up"
        return Finding("notify", "ok", "no channel is set up", hint)
    return Finding("notify", "ok", formats.joined(names))


def _index() -> Finding:
    from navi.memory.index_paths import index_paths
    from navi.memory.index_settings import searchable_fields
    from navi.memory.ingest.freshness import freshness
    from navi.vendors.registry import sources

    paths, now = index_paths(), SystemClock().now()
    if not paths.database.exists():
        return Finding("index", "note", "none yet", "create it with `recall index`")
    state = freshness(paths, sources(), searchable_fields(), now)
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


def _meaning() -> Finding:
    from navi.memory.index_paths import index_paths
    from navi.memory.semantic.semantic_settings import semantic_settings
    from navi.memory.semantic.semantic_state import semantic_state

    semantic_settings()  # Raises if they contain a mistake.
    state = semantic_state(index_paths())
    if state.problem is not None and state.is_wanted:
        return Finding("meaning", "note", state.sentence, state.problem.hint)
    return Finding("meaning", "ok", state.sentence)


def _server() -> Finding:
    address = find_server().address
    netloc = address.partition("://")[2]
    try:
        health = json.loads(exchange(address, "GET", "/health", None, {}, HEALTH_SECONDS).body)
        version = health["version"]
    except ConnectionRefusedError:
        return Finding("server", "note", f"not running on {netloc}", "start it with `navi serve`")
    except OSError as error:
        detail = f"no answer from {netloc}: {error}"
        return Finding("server", "problem", detail, "check `host` and `port` under [server]")
    except (ValueError, KeyError, TypeError):
        return _foreign_server(netloc)
    if version != __version__:
        detail = f"navi {version} on {netloc}, but this is {__version__}"
        hint = "restart the server (a service: `navi service restart`), or upgrade the older one"
        return Finding("server", "note", detail, hint)
    return Finding("server", "ok", f"navi {version} on {netloc}")


def _foreign_server(netloc: str) -> Finding:
    if "NAVI_URL" in os.environ:
        hint = "set NAVI_URL to the address that `navi serve` prints"
        return Finding("server", "problem", f"another program answers on {netloc}", hint)
    server = settings.load().server
    if "port" in server.model_fields_set:
        hint = f"use another port: `navi serve --port {server.port + 1}`"
        return Finding("server", "problem", f"another program answers on {netloc}", hint)
    return Finding(
        "server",
        "note",
        f"not running; another program answers on {netloc}",
        "start it with `navi serve`, which takes the next free port",
    )


def _commands() -> Finding:
    """Whether Navi's commands on the PATH are those of this installation."""
    folder = Path(sysconfig.get_path("scripts"))
    foreign, missing = [], []
    for name in COMMAND_NAMES:
        path = shutil.which(name)
        if path is None:
            missing.append(name)
        elif not (folder / name).exists() or not os.path.samefile(path, folder / name):
            foreign.append(path)
    if foreign:
        detail = f"{formats.joined(foreign)}: first on the PATH, but not part of this Navi"
        return Finding("commands", "note", detail, f"put {folder} before them on the PATH")
    if missing:
        hint = f"add {folder} to the PATH"
        if is_temporary(Path(sys.prefix)):
            hint = "install them with `uv tool install heynavi`"
        return Finding("commands", "note", f"{formats.joined(missing)}: not on the PATH", hint)
    return Finding("commands", "ok", f"{formats.joined(COMMAND_NAMES)} are on the PATH")


def _setup(name: str) -> Finding:
    """Whether Navi's entries in the agent's settings point to this Navi."""
    agent = registry.settings()[name]
    title, repair = f"{agent.program} setup", f"repair it with `navi setup {name}`"
    if not agent.is_installed():
        if agent.driver not in {each.name for each in installed_agents(settings.load())}:
            return Finding(title, "ok", f"none: {agent.title} is not installed")
        hint = f"connect {agent.title} to Navi with `navi setup {name}`"
        return Finding(title, "note", "none", hint)
    if defects := agent.defects():
        return Finding(title, "problem", "; ".join(defects), repair)
    if targets := agent.foreign_targets(lasting_address(), find_server().address):
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
    "commands": _commands,
    "settings": _settings,
    "time zone": _timezone,
    "model": _model,
    "home": _home,
    "store": _store,
    "set aside": _set_aside,
    "notify": _notifications,
    "index": _index,
    "meaning": _meaning,
    "server": _server,
}


def _run_check(name: str, check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except NaviError as error:
        return Finding(name, "problem", error.message, error.hint)
