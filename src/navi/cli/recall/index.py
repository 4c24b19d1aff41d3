"""`recall index`: read what is new in the agents' files."""

from __future__ import annotations

from typing import Any

import click

from navi.cli.recall.options import json_option, source_option


@click.command("index", help="Read what is new in the agents' files.")
@click.option("--full", is_flag=True, help="Read every file again.")
@source_option
@click.option("--recreate", is_flag=True, help="Keep the old index as a backup and start over.")
@click.option("-v", "--verbose", is_flag=True, help="Say what becomes of every file.")
@json_option
def command(**given: Any) -> None:
    from navi.cli.recall.indexed import run

    run(**given)
