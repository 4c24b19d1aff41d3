"""A program other than an agent in a pane: Navi types into it and reads what it prints."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from navi.base.errors import AgentFailed
from navi.base.paths import pane_name
from navi.live.agents.driver import DriverEvent
from navi.live.agents.terminal.tmux import Pane, Tmux
from navi.live.model.event import TextDelta

POLL_SECONDS = 0.2
START_SECONDS = 1.0
"""How long to wait for a program's first output before typing."""
QUIET_SECONDS = 1.0
"""A program that prints nothing for this long seems to wait for input."""
LONGEST_WAIT_SECONDS = 10.0
"""How long to wait for a program that never stops printing."""
SHOWN_LINES = 200
QUOTED_LINES = 5
"""How many of a program's last lines to quote if it exited too soon."""
FENCE = "```"


class PaneProgram:
    def __init__(self, tmux: Tmux, session_id: str, command: str) -> None:
        self._tmux = tmux
        self._session_id = session_id
        self._command = command

    async def wait_until_ready(self) -> Pane:
        """Wait for the program's first output, up to `START_SECONDS`, and return its pane."""
        deadline = _now() + START_SECONDS
        while True:
            pane = await self._pane()
            if pane.is_dead:
                raise await self._early_exit(pane)
            if await self._tmux.output(pane) or _now() > deadline:
                return pane
            await asyncio.sleep(POLL_SECONDS)

    async def answer(self, turn_id: str, since_line: int) -> AsyncIterator[DriverEvent]:
        """Wait until the program is quiet or has exited; yield its output from `since_line` on."""
        pane, output = await self._wait_until_quiet(since_line)
        if pane.is_dead and pane.turn_id != turn_id:
            raise await self._early_exit(pane)
        yield TextDelta(self._report(pane, output))
        if pane.is_dead and pane.exit_code != 0:
            raise AgentFailed(f"`{self._command}` {_describe_ending(pane)}")

    async def _wait_until_quiet(self, since_line: int) -> tuple[Pane, list[str]]:
        started_at = quiet_since = _now()
        last: list[str] = []
        while True:
            pane = await self._pane()
            # A program that has cleared its screen prints above `since_line`.
            output = await self._tmux.output(pane, since_line)
            output = output or await self._tmux.output(pane, pane.scrolled_lines)
            if output != last:
                last, quiet_since = output, _now()
            is_quiet = _now() - quiet_since >= QUIET_SECONDS
            if pane.is_dead or is_quiet or _now() - started_at >= LONGEST_WAIT_SECONDS:
                return pane, last
            await asyncio.sleep(POLL_SECONDS)

    async def _pane(self) -> Pane:
        pane = await self._tmux.pane_with_ending(pane_name(self._session_id))
        if pane is None:
            raise AgentFailed("this session's pane was closed during this turn")
        return pane

    async def _early_exit(self, pane: Pane) -> AgentFailed:
        lines = [line.strip() for line in await self._tmux.output(pane) if line.strip()]
        quote = ": " + " / ".join(lines[-QUOTED_LINES:]) if lines else " and printed nothing"
        ending = _describe_ending(pane)
        return AgentFailed(
            f"`{self._command}` {ending} before it could receive this message{quote}",
            hint="start a session with a command that reads its input: "
            "`sm spawn --driver tmux --program COMMAND`",
        )

    def _report(self, pane: Pane, output: Sequence[str]) -> str:
        if pane.is_dead:
            remark = f"The program {_describe_ending(pane)}."
        else:
            remark = (
                "Navi can't tell whether the program is done. "
                f"`sm attach {self._session_id}` shows its pane."
            )
        if not output:
            return f"(The pane shows nothing. {remark})"
        omitted_lines = len(output) - SHOWN_LINES
        heading = [f"(lines left out before these: {omitted_lines})"] if omitted_lines > 0 else []
        text = "\n".join([*heading, *output[-SHOWN_LINES:]])
        fence = FENCE
        while fence in text:
            fence += "`"
        return f"{fence}text\n{text}\n{fence}\n\n({remark})"


def _describe_ending(pane: Pane) -> str:
    if pane.exit_code is not None:
        return f"ended with exit code {pane.exit_code}"
    return "has ended" if pane.signal is None else f"was killed by signal {pane.signal}"


def _now() -> float:
    return asyncio.get_running_loop().time()
