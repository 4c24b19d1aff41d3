"""`navi mcp`: serve Navi's tools to the agent that runs this command."""

from __future__ import annotations

import os
import sys

import click

from navi.cli import output


@click.command("mcp")
def command() -> None:
    """Serve Navi's tools over the Model Context Protocol, on standard input and output.

    Agents start this themselves after `navi setup`. The tools come from the running server, which
    also serves them over HTTP at /mcp. Without a server, there are no tools.
    """
    from navi.client import Client, find_server, mcp_bridge
    from navi.vendors.registry import vendors

    session_variables = [
        each.session_variable for each in vendors().values() if each.session_variable
    ]
    mcp_bridge.run(
        lambda: Client(find_server()), os.environ, session_variables, sys.stdin, output.say
    )
