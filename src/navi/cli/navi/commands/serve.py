"""`navi serve`: run the server."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import click

from navi.base import documentation
from navi.base.errors import NoModel, UsageError
from navi.base.paths import address as address_of
from navi.base.served_address import AddressFile, served_address
from navi.cli import output
from navi.cli.navi import browser
from navi.cli.navi.commands.login import LINK_NOTE
from navi.cli.navi.installed_agents import fallback_agent
from navi.cli.navi.listener import listen, listen_near
from navi.live.model.access.login import login_link
from navi.live.model.access.user import LOCAL_USER_ID
from navi.live.runtime import python_tuning, server_files, settings
from navi.live.runtime.services.server_token import ServerToken

if TYPE_CHECKING:
    from navi.live.runtime.app import Navi

LOG_FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"


@click.command("serve", help="Run the server until interrupted.")
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Port to listen on.  [default: 8420, or the next one that is free]",
)
@click.option("--no-open", is_flag=True, help="Don't open a browser.")
@click.option("-v", "--verbose", is_flag=True, help="Log every turn.")
def command(host: str | None, port: int | None, no_open: bool, verbose: bool) -> None:
    run(host, port, no_open=no_open, verbose=verbose)


def run(host: str | None, port: int | None, *, no_open: bool, verbose: bool = False) -> None:
    """Serve this home. If neither an option nor a setting names a port, use the next free one."""
    logging.basicConfig(level=logging.WARNING, format=LOG_FORMAT, stream=sys.stderr)
    logging.getLogger("navi").setLevel(logging.INFO if verbose else logging.WARNING)
    config = settings.load()
    is_port_fixed = port is not None or "port" in config.server.model_fields_set
    server = config.server.model_copy(
        update={
            "host": host or config.server.host,
            "port": config.server.port if port is None else port,
        }
    )
    config = config.model_copy(update={"server": server})
    home = server_files.prepare_home()
    token = ServerToken.find(home)
    _warn_if_reachable(server.host)
    address_file = AddressFile.claim()
    if address_file is None and not is_port_fixed:
        raise _already_served()
    try:
        if is_port_fixed:
            listener = listen(server.host, server.port)
        else:
            listener = listen_near(server.host, server.port, home)
        address = address_of(server.host, listener.getsockname()[1])
        _prepare_for_agents(address)
        opens_browser = not no_open and browser.can_open()
        _run(_serve(config, token, listener, address, address_file, opens_browser))
    finally:
        if address_file is not None:
            address_file.remove()


def _already_served() -> UsageError:
    address = served_address()
    where = "" if address is None else f" at {address}"
    return UsageError(
        f"a server already runs for this home{where}",
        hint="`navi` opens its page; to run another server, set NAVI_HOME to another folder, or "
        "use --port to share this home",
    )


def _warn_if_reachable(host: str) -> None:
    if host == "localhost" or _is_loopback(host):
        return
    output.note(
        f"warning: other machines can reach {host}, and Navi does not encrypt its traffic: "
        "anyone on the network can read your token and your conversations"
    )
    output.note(
        "hint: listen on 127.0.0.1, behind a reverse proxy with TLS or an SSH tunnel; "
        f"{documentation.page('how-to/users-and-access')} shows both"
    )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a host name
        return False


def _prepare_for_agents(address: str) -> None:
    """Let agents find `sm`, and let `sm` find this server."""
    os.environ["NAVI_URL"] = address
    commands_folder = os.path.dirname(sys.executable)
    path = os.environ.get("PATH", os.defpath)
    if commands_folder not in path.split(os.pathsep):
        # Appended, so that it hides none of the person's own programs.
        os.environ["PATH"] = f"{path}{os.pathsep}{commands_folder}"


def _announce_model(config: settings.Settings) -> None:
    model = settings.model_of(config)
    if model is None and (agent := fallback_agent(config)) is not None:
        output.note(f"model: none is set up; new sessions use {agent.title}")
    elif model is None:
        output.note(f"{NoModel().message}\nhint: {NoModel().hint}")
    elif model == "scripted":
        output.note(
            "model: scripted, a demo that only echoes what you write; for a real model, set "
            "ANTHROPIC_API_KEY, OPENAI_API_KEY or NAVI_MODEL"
        )
    else:
        output.note(f"model: {model}")


async def _serve(
    config: settings.Settings,
    token: ServerToken,
    listener: socket.socket,
    address: str,
    address_file: AddressFile | None,
    opens_browser: bool,
) -> None:
    from navi.live.api.server import Server
    from navi.live.runtime.app import running
    from navi.live.store.engine import schema

    url = server_files.database_url()
    await asyncio.to_thread(schema.prepare, url)
    async with running(
        config, url, token, address=address, follows_index=config.index.follow
    ) as navi:
        server = Server(navi)
        with python_tuning.loaded_objects_frozen():
            if address_file is not None:
                address_file.write(address)
            _announce_model(config)
            await _announce(navi, address, opens_browser)
            await server.serve_on(listener)


async def _announce(navi: Navi, address: str, opens_browser: bool) -> None:
    """Print the page's address; at a terminal, as a link that logs the browser in."""
    if not sys.stdout.isatty():
        # The output goes to a file or a program, where a link could reach the wrong people.
        output.note("`navi login` prints a link that logs a browser in")
        output.say(f"Navi is ready: {address}")
        return
    link = login_link(address, LOCAL_USER_ID, await navi.logins.make_code(LOCAL_USER_ID))
    output.say(f"Navi is ready: {link}")
    output.note(LINK_NOTE)
    if opens_browser:
        asyncio.get_running_loop().call_later(0.3, browser.open_link, link, server_files.home())


def _run(main: Any) -> None:
    python_tuning.prefer_short_waits()
    # SIGTERM during startup ends the process like Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        import uvloop

        uvloop.run(main)
    except ImportError:
        asyncio.run(main)
