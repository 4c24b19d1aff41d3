"""The picker over 10,000 sessions. `benchmarks.picker` measures it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.picker.conftest import RECALL
from tests.many_sessions import write_many
from tests.memory_world import World
from tests.tmux_screen import TmuxScreen

pytestmark = pytest.mark.proof

COUNT = 10_000


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (200, 50)])
async def test_ten_thousand_sessions_are_listed_searched_and_reached(
    private_home: Path, columns: int, lines: int
) -> None:
    world = World(private_home)
    write_many(world, COUNT)
    world.index()
    with TmuxScreen(RECALL, columns, lines) as screen:
        await screen.shows("10,000 of 10,000", f"Session {COUNT - 1}:")
        screen.press("C-End")
        await screen.becomes(
            lambda screen: any(
                line.startswith("> ") and "Session 0:" in line for line in screen.splitlines()
            ),
            "the first session selected",
        )
        screen.press("C-Home")
        await screen.shows(f"Session {COUNT - 1}:")
        for letter in "Session 1234":
            screen.type_text(letter)
        # Others have these words in their passages, but only one has the number.
        await screen.shows("Session 1234:", "▌ Session 1234:")
        screen.press("C-u", "F2", "F2")
        await screen.shows("agent: codex", "1,000 of 10,000")
        for _ in range(30):
            screen.press("PageDown")
        screen.type_text("token")
        await screen.shows("recall> token", "codex")
        screen.press("Escape")
        await screen.ends()
