"""Updates the picker's screen in docs/how-to/picker.md. `make pictures` runs this."""

from __future__ import annotations

import asyncio
import re
import tempfile
from pathlib import Path

from scripts.terminal_pictures import (
    RECALL,
    environment_of,
    recall,
    with_shown_times,
    write_past_sessions,
)
from tests.tmux_screen import TmuxScreen

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "picker.md"
QUERY = "refresh token"
COLUMNS, LINES = 80, 21
_BLOCK = re.compile(r"(?<=```text\n)recall> .*?(?=```)", re.DOTALL)


def main() -> None:
    screen = asyncio.run(picker_screen())
    PAGE.write_text(_BLOCK.sub(lambda _: screen, PAGE.read_text(), count=1))


async def picker_screen() -> str:
    """The picker's screen for a query, in the same home as the other pictures."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_past_sessions(home)
        recall(home, ["index"])
        variables = environment_of(home)
        with TmuxScreen(
            [str(RECALL)], COLUMNS, LINES, folder=home, variables=variables
        ) as terminal:
            await terminal.shows("3 of 3")
            terminal.type_text(QUERY)
            await terminal.shows("2 of 3", "▌")
            lines = [line.rstrip() for line in terminal.lines()]
    return with_shown_times("\n".join(lines)).rstrip() + "\n"


if __name__ == "__main__":
    main()
