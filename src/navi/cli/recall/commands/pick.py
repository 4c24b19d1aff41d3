"""`recall pick`: choose a session in a full-screen picker."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from navi.base.errors import NaviError
from navi.cli import output

if TYPE_CHECKING:
    from navi.cli.recall.picker.session_reader import SessionReader
    from navi.cli.recall.picker.state import Session

CANCELLED = 130
"""The exit code of a cancelled --print, as if Ctrl-C had ended the command."""


@click.command(
    "pick",
    epilog="\b\nExamples:\n"
    "  recall pick refresh token agent:codex\n"
    '  id="$(recall pick --print)" && recall show "$id"',
)
@click.argument("words", nargs=-1, metavar="[WORDS]...")
@click.option(
    "--print",
    "prints",
    is_flag=True,
    help="Print the id of the chosen session instead of resuming it. The exit code is 130 if you "
    "choose none.",
)
def command(words: tuple[str, ...], prints: bool) -> None:
    """Search all sessions in a full-screen picker, and resume the one you choose.

    The picker opens with WORDS already entered. In a terminal, `recall` alone opens it too. Press
    F1 for the keys.
    """
    session = _choose(" ".join(words), prints)
    if session is None:
        sys.exit(CANCELLED if prints else 0)
    if prints:
        output.say(session["id"])
        return
    from navi.cli.recall.commands.resume import resume

    # A Navi session has no agent to start: `recall resume` prints how to continue it.
    resume(session["id"], runs=session["source"] != "navi")


def _choose(query: str, prints: bool) -> Session | None:
    from navi.cli.recall.picker import terminal

    with terminal.opened() as screen:
        # Imported after the check for a terminal, because these imports are slow.
        from navi.cli.recall.picker.picker import Picker

        item = Picker(screen, _reader(), query, prints=prints).run()
    return None if item is None else item.session


def _reader() -> SessionReader:
    from navi.cli.recall.freshness import bring_up_to_date
    from navi.cli.recall.picker.session_reader import SessionReader
    from navi.memory.index_paths import index_paths

    paths = index_paths()
    try:
        return SessionReader(paths)
    except NaviError:  # there is no index yet, or another version made it
        bring_up_to_date(paths)
        return SessionReader(paths)
