"""`recall sync`: exchange sessions with another machine."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from navi.base.control_characters import CONTROL_CHARACTER
from navi.base.errors import NaviError, NotFound, UsageError
from navi.cli import formats, output
from navi.cli.recall.options import clock, json_option, since_option

if TYPE_CHECKING:
    from navi.memory.hosts.peers import Peer
    from navi.memory.hosts.stock import Stock
    from navi.memory.hosts.sync_request import SyncRequest
    from navi.memory.hosts.sync_result import SyncResult
    from navi.memory.index_paths import IndexPaths

COMMAND_NOT_FOUND = 127
"""A shell's exit code if there is no such program."""


class PathPair(click.ParamType[tuple[str, str]]):
    name = "there=here"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        from navi.memory.hosts.path_map import read_pair

        pair = value if isinstance(value, tuple) else read_pair(value)
        if pair is None:
            self.fail(f"{value!r} isn't two absolute folders, as in /srv/ada=/work/ada")
        return pair


@click.command(
    "sync",
    help="Exchange sessions with another machine, in both directions. PEER is an SSH host such as "
    "ada@laptop, or the path of a folder that both machines can see. A path must contain a slash, "
    "as in ./shared.",
    epilog="\b\nExamples:\n"
    "  recall sync ada@laptop --map /srv/ada=/work/ada\n"
    "  recall sync ~/Sync/recall --mask",
)
@click.argument("peer", required=False, metavar="PEER")
@click.option(
    "--map",
    "pairs",
    type=PathPair(),
    multiple=True,
    metavar="THERE=HERE",
    help="The peer's folder THERE is HERE on this machine. Repeatable. Remembered for this peer.",
)
@click.option(
    "--mask/--no-mask",
    "is_masked",
    default=None,
    help="Mask secrets in the exchanged sessions. Remembered for this peer.  [default: --no-mask]",
)
@click.option("--only-send", is_flag=True, help="Receive nothing.")
@click.option("--only-receive", is_flag=True, help="Send nothing.")
@since_option
@click.option(
    "--dry-run",
    "is_dry_run",
    is_flag=True,
    help="Only count the sessions that would be sent and received.",
)
@click.option(
    "--program",
    metavar="PATH",
    help="Path of recall on the peer, if ssh doesn't find it. Remembered for this peer.",
)
@click.option("--stdio", is_flag=True, hidden=True, help="Answer another recall.")
@json_option
def command(
    peer: str | None,
    pairs: tuple[tuple[str, str], ...],
    is_masked: bool | None,
    only_send: bool,
    only_receive: bool,
    since: datetime | None,
    is_dry_run: bool,
    program: str | None,
    stdio: bool,
    as_json: bool,
) -> None:
    from navi.memory.hosts.sync_request import SyncRequest
    from navi.memory.index_paths import index_paths

    paths = index_paths()
    if stdio:
        _answer(paths)
        return
    if only_send and only_receive:
        raise UsageError("--only-send and --only-receive leave nothing to do", hint="choose one")
    name, is_folder = _peer_name(peer)
    settings = _settings(paths, name, pairs, is_masked, program)
    request = SyncRequest(since, settings.is_masked, not only_receive, not only_send, is_dry_run)
    index_new_messages(paths)
    host, result = _sync(paths, name, is_folder, settings, request)
    if not is_dry_run:
        _finish(paths, name, settings, result)
    _report(name, host, result, is_dry_run, as_json)
    if result.refused:
        sys.exit(1)


def _peer_name(peer: str | None) -> tuple[str, bool]:
    """The name under which the peer is remembered, and whether it is a folder."""
    if not peer:
        raise UsageError("no peer to sync with", hint="recall sync ada@laptop")
    if "/" in peer or peer in (".", "..", "~"):
        folder = os.path.realpath(os.path.expanduser(peer))
        if not os.path.isdir(folder):
            raise NotFound(f"there is no folder {folder}", hint="create it, or mount it first")
        return folder, True
    if peer.startswith("-") or CONTROL_CHARACTER.search(peer) or len(peer.split()) != 1:
        raise UsageError(f"{peer!r} is not a host", hint="recall sync ada@laptop")
    return peer, False


def _settings(
    paths: IndexPaths,
    name: str,
    pairs: tuple[tuple[str, str], ...],
    is_masked: bool | None,
    program: str | None,
) -> Peer:
    """The settings remembered for the peer, updated with these options."""
    from msgspec.structs import replace

    from navi.memory.hosts import peers

    existing = peers.load(paths).get(name, peers.Peer())
    peer = existing
    if pairs:
        peer = replace(peer, path_map=list(pairs))
    if is_masked is not None:
        peer = replace(peer, is_masked=is_masked)
    if program is not None:
        peer = replace(peer, program=program)
    if peer != existing:
        paths.prepare()
        peers.save(paths, name, peer)
    return peer


def index_new_messages(paths: IndexPaths) -> None:
    """Index new messages, unless another process is doing so."""
    from navi.cli.recall.progress import Bar
    from navi.memory.index_errors import IndexBusy
    from navi.memory.index_settings import searchable_fields
    from navi.memory.ingest.refresh import Refresh
    from navi.vendors.registry import sources

    bar = Bar()
    refresh = Refresh(paths, sources(), searchable_fields(), clock(), on_progress=bar.show)
    refresh.patience_seconds = 10.0
    try:
        result = refresh.run(doing="recall sync")
    except IndexBusy as error:
        output.note(f"note: {error.message}; that process indexes the new messages")
        return
    finally:
        bar.end()
    for warning in result.warnings:
        output.note(f"warning: {warning}")


def _sync(
    paths: IndexPaths, name: str, is_folder: bool, settings: Peer, request: SyncRequest
) -> tuple[str, SyncResult]:
    """Exchange sessions. Returns the name of the peer's machine, and the result."""
    from navi.memory.hosts import folder_peer
    from navi.memory.hosts.stock import stock

    own = stock(paths, clock().now())
    try:
        if is_folder:
            return formats.short_path(name), folder_peer.sync(Path(name), own, request)
        return _sync_by_ssh(name, settings.program, own, request)
    finally:
        note_problems(own)


def _sync_by_ssh(
    name: str, program: str, own: Stock, request: SyncRequest
) -> tuple[str, SyncResult]:
    from navi.memory.hosts import pipe_peer

    line = shlex.join(pipe_peer.arguments(program))
    try:
        process = subprocess.Popen(
            ["ssh", "-T", "--", name, line], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
    except OSError as error:
        raise NaviError(
            "can't start ssh", hint="install OpenSSH, or sync through a shared folder"
        ) from error
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        host, result = pipe_peer.run_client(process.stdout, process.stdin, own, request)
    except pipe_peer.PeerError as error:
        if _end(process) == COMMAND_NOT_FOUND:
            raise NaviError(
                f"{program} was not found on {name}",
                hint=f"recall sync {name} --program /path/to/recall",
            ) from error
        raise
    finally:
        _end(process)
    return host.name, result


def note_problems(own: Stock) -> None:
    for problem in own.problems:
        output.note(f"warning: {problem}")


def _end(process: subprocess.Popen[bytes]) -> int:
    """Close the connection, and wait until the other side has indexed what it received."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):  # unsent data is no longer needed
                pipe.close()
    return process.wait()


def _finish(paths: IndexPaths, name: str, settings: Peer, result: SyncResult) -> None:
    """Index the received sessions, and remember when the sync took place."""
    from msgspec.structs import replace

    from navi.memory.hosts import peers, received

    if settings.path_map:
        for host in received.hosts(paths):
            # Sessions of third machines that the peer passes on get the peer's path map only if
            # their machine has none.
            is_its_own = result.peer_id in (None, host.id)
            if host.id in result.host_ids and (is_its_own or not host.path_map):
                received.set_path_map(paths, host.id, settings.path_map)
    if result.received or settings.path_map:
        index_new_messages(paths)
    peers.save(paths, name, replace(settings, synced_at=clock().now()))


def _answer(paths: IndexPaths) -> None:
    """Answer a sync that another machine started."""
    from navi.memory.hosts import pipe_peer
    from navi.memory.hosts.stock import stock

    if sys.stdin.isatty():
        raise UsageError("--stdio is for another recall", hint="recall sync ada@laptop")
    index_new_messages(paths)
    own = stock(paths, clock().now())
    result = pipe_peer.run_server(sys.stdin.buffer, sys.stdout.buffer, own)
    note_problems(own)
    if result.received:
        index_new_messages(paths)


def _report(name: str, host: str, result: SyncResult, is_dry_run: bool, as_json: bool) -> None:
    if as_json:
        output.say_json(
            {
                "peer": name,
                "host": host,
                "sent": result.sent,
                "received": result.received,
                "set_aside": result.refused,
                "is_dry_run": is_dry_run,
            }
        )
        return
    for problem in result.refused:
        output.note(f"warning: refused: {problem}")
    sent, received = (formats.count(each, "session") for each in (result.sent, result.received))
    verb = "would send {}, receive {}" if is_dry_run else "sent {}, received {}"
    output.say(f"{host}: {verb.format(sent, received)}")
