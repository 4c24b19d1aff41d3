"""`navi serve`: run the server."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
import socket
import sys
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import click

from navi.base.errors import UsageError
from navi.base.paths import address as address_of
from navi.cli import output
from navi.cli.navi import browser
from navi.cli.navi.commands.login import LINK_NOTE
from navi.live.model.access.login import login_link
from navi.live.model.access.user import LOCAL_USER_ID
from navi.live.runtime import python_tuning, server_files, settings
from navi.live.runtime.services.server_token import ServerToken

if TYPE_CHECKING:
    from navi.live.runtime.app import Navi

LOG_FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"


@click.command("serve", help="Run the server until interrupted.")
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on.  [default: 8420]")
@click.option("--no-open", is_flag=True, help="Don't open a browser.")
@click.option("-v", "--verbose", is_flag=True, help="Log every turn.")
def command(host: str | None, port: int | None, no_open: bool, verbose: bool) -> None:
    logging.basicConfig(level=logging.WARNING, format=LOG_FORMAT, stream=sys.stderr)
    logging.getLogger("navi").setLevel(logging.INFO if verbose else logging.WARNING)
    chosen = settings.load()
    server = chosen.server.model_copy(
        update={
            "host": host or chosen.server.host,
            "port": chosen.server.port if port is None else port,
        }
    )
    chosen = chosen.model_copy(update={"server": server})
    home = server_files.prepare_home()
    token = ServerToken.find(home)
    _warn_if_reachable(server.host)
    listener = _listen(server.host, server.port)
    address = address_of(server.host, listener.getsockname()[1])
    _prepare_for_agents(address)
    opens_browser = not no_open and browser.can_open()
    _run(_serve(chosen, token, listener, address, opens_browser))


def _warn_if_reachable(host: str) -> None:
    if host == "localhost" or _is_loopback(host):
        return
    output.note(
        f"warning: other machines can reach {host}, and Navi does not encrypt its traffic: "
        "anyone on the network can read your token and your conversations"
    )
    output.note(
        "hint: listen on 127.0.0.1, behind a reverse proxy with TLS or an SSH tunnel; "
        "docs/how-to/users-and-access.md shows both"
    )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return False


def _prepare_for_agents(address: str) -> None:
    """Let agents find `sm`, and let `sm` find this server."""
    os.environ["NAVI_URL"] = address
    own_commands = os.path.dirname(sys.executable)
    path = os.environ.get("PATH", os.defpath)
    if own_commands not in path.split(os.pathsep):
        # Appended, so that it hides none of the person's own programs.
        os.environ["PATH"] = f"{path}{os.pathsep}{own_commands}"


def _announce_model(chosen: settings.Settings) -> None:
    model = settings.model_of(chosen)
    if model == "scripted":
        output.note(
            "model: scripted, a demo that only echoes what you write; for a real model, set "
            "ANTHROPIC_API_KEY, OPENAI_API_KEY or NAVI_MODEL"
        )
    else:
        output.note(f"model: {model}")


async def _serve(
    chosen: settings.Settings,
    token: ServerToken,
    listener: socket.socket,
    address: str,
    opens_browser: bool,
) -> None:
    from navi.live.api.server import Server
    from navi.live.runtime.app import running
    from navi.live.store.engine import schema

    url = server_files.database_url()
    await asyncio.to_thread(schema.prepare, url)
    async with running(
        chosen, url, token, address=address, follows_index=chosen.index.follow
    ) as navi:
        server = Server(navi)
        python_tuning.freeze_loaded_objects()
        _announce_model(chosen)
        await _announce(navi, address, opens_browser)
        await server.serve_on(listener)


async def _announce(navi: Navi, address: str, opens_browser: bool) -> None:
    """Print the page's address; at a terminal, as a link that logs the browser in."""
    if not sys.stdout.isatty():
        # A log or a program reads this, and a working link in it could reach the wrong people.
        output.note("`navi login` prints a link that logs a browser in")
        output.say(f"Navi is ready: {address}")
        return
    link = login_link(address, LOCAL_USER_ID, await navi.logins.make_code(LOCAL_USER_ID))
    output.say(f"Navi is ready: {link}")
    output.note(LINK_NOTE)
    if opens_browser:
        asyncio.get_running_loop().call_later(0.3, browser.open_link, link, server_files.home())


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(1024)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            hint = f"another Navi may be running there; try `navi serve --port {port + 1}`"
        else:
            hint = "use an address of this machine, such as 127.0.0.1, and a port above 1023"
        raise UsageError(
            f"can't listen on {host}:{port}: {(error.strerror or str(error)).lower()}", hint=hint
        ) from error
    listener.setblocking(False)
    return listener


def _run(main: Any) -> None:
    python_tuning.prefer_short_waits()
    # SIGTERM during startup ends the process like Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        import uvloop

        uvloop.run(main)
    except ImportError:
        asyncio.run(main)
