"""Runs turns with agents in tmux panes, where people can watch them and type.

The prompt is pasted into the pane and submitted; the agent's answer is read from its own
transcript. The pane and its agent outlive the server.
"""

from __future__ import annotations

import asyncio
import logging
import shlex
import shutil
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from navi.base.errors import AgentFailed, NotDelivered
from navi.base.file_locks import is_locked
from navi.base.paths import pane_name
from navi.live.agents.command_line.agent_environment import ServerAccess, with_identity
from navi.live.agents.command_line.detached_run import delete_earlier_runs
from navi.live.agents.driver import Driver, DriverEvent, TurnRequest
from navi.live.agents.shielding import run_to_end
from navi.live.agents.terminal.pane_agent import PaneAgent
from navi.live.agents.terminal.pane_program import PaneProgram
from navi.live.agents.terminal.pane_turn import PaneTurn
from navi.live.agents.terminal.tmux import LAUNCH_PREFIX, Pane, Tmux, draft_in
from navi.live.agents.terminal.transcript_tail import (
    POLL_SECONDS,
    AgentState,
    TranscriptPosition,
    TranscriptTail,
    follow,
)
from navi.live.model.event import Conversation
from navi.live.model.session import Session
from navi.live.model.usage_limit import Account

log = logging.getLogger("navi.panes")

START_SECONDS = 60.0
"""How long an agent may take to begin a conversation. After that, it is probably showing a dialog
that only a person can answer."""
PROGRAM_PAUSE_SECONDS = 0.2
"""The pause between a paste and its Enter for a program that is not an agent."""
TEXT_FILE, POSITION_FILE, OVER_FILE = "text", "place", "over"
"""Files in a turn's folder: its prompt, where it begins in the transcript, and a marker. The marker
means that nothing is left to interrupt: the agent has stopped, or may finish on its own."""


class TmuxDriver(Driver):
    """`session.program` names one of `agents`, or is a command line to run with `environment`.

    If `session.program` is not set, `default_agent` runs in the pane.
    """

    outlives_server = True
    runs_programs = True

    def __init__(
        self,
        agents: Mapping[str, PaneAgent],
        *,
        default_agent: str,
        socket: str,
        runs: Path,
        environment: Mapping[str, str],
        access: ServerAccess | None = None,
    ) -> None:
        self._agents = agents
        self._default_agent = default_agent
        self._socket = socket
        self._runs = runs
        self._environment = environment
        self._access = access
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        for launch in runs.glob("*/*/launch"):
            launch.unlink(missing_ok=True)  # left by earlier versions; may contain keys

    async def turn(self, request: TurnRequest) -> AsyncGenerator[DriverEvent, None]:
        turn = _TmuxTurn(self, request, self._environment, self._access)
        try:
            async with self._locks[request.session.id]:
                pane = await turn.open_pane()
                if turn.agent is None:
                    async for event in turn.run_program(pane):
                        yield event
                    return
                await turn.interrupt_earlier_turn(pane)
                conversation = await turn.wait_for_composer(pane)
                yield Conversation(conversation)
                start = await turn.deliver(pane, conversation)
            async for event in turn.report_events(pane, conversation, start):
                yield event
        except (asyncio.CancelledError, GeneratorExit):
            if request.should_stop():
                await run_to_end(turn.interrupt())
            raise

    async def end(self, session: Session) -> None:
        if shutil.which("tmux", path=self._environment.get("PATH")) is not None:
            await Tmux(self._socket, self._environment).end(pane_name(session.id))
        for launch in (self._runs / session.id).glob(f"*/{LAUNCH_PREFIX}*"):
            launch.unlink(missing_ok=True)  # left by a pane that never started

    async def open_sessions(self) -> list[str]:
        if shutil.which("tmux", path=self._environment.get("PATH")) is None:
            return []
        names = await Tmux(self._socket, self._environment).session_names()
        prefix = pane_name("")
        return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]

    def can_report(self, session: Session) -> bool:
        return self.agent_of(session) is not None

    def account_of(self, session: Session) -> Account:
        if self.agent_of(session) is None:
            return Account.of(session)
        # The agent uses the same login inside and outside a pane.
        return Account.of_agent(session.program or self._default_agent, session)

    def agent_of(self, session: Session) -> PaneAgent | None:
        return self._agents.get(session.program or self._default_agent)

    @property
    def runs(self) -> Path:
        return self._runs

    @property
    def socket(self) -> str:
        return self._socket


class _TmuxTurn:
    """One turn in a session's pane."""

    def __init__(
        self,
        driver: TmuxDriver,
        request: TurnRequest,
        environment: Mapping[str, str],
        access: ServerAccess | None,
    ) -> None:
        self.agent = driver.agent_of(request.session)
        self._request = request
        self._environment = environment if self.agent is None else self.agent.environment
        self._access = access
        self._tmux = Tmux(driver.socket, environment)
        self._pane_name = pane_name(request.session.id)
        self._folder = driver.runs / request.session.id / request.turn_id
        self._lock = self._folder / "lock"
        self._position_file = self._folder / POSITION_FILE

    async def open_pane(self) -> Pane:
        """The session's pane, started if necessary."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        context = str(self._request.session.context_from_idx)
        pane = await self._tmux.pane(self._pane_name)
        if pane is not None and not pane.is_dead and pane.context == context:
            return pane
        if self._position_file.exists():
            # The agent may have read the prompt. Pasting it again could make the agent do
            # the work twice.
            raise AgentFailed("this session's pane was closed during this turn")
        if pane is not None:
            await self._tmux.end(self._pane_name)
        session_id, cwd = self._request.session.id, self._request.context.cwd
        environment = await with_identity(self._environment, session_id, self._access)
        command = await asyncio.to_thread(self._command)
        return await self._tmux.start(
            self._pane_name, command, cwd, self._folder, context, environment
        )

    async def interrupt_earlier_turn(self, pane: Pane) -> None:
        """Interrupt the agent if it is still working on an earlier turn that was stopped.

        Either the agent ignored the interruption, or the server died before sending it.
        """
        folder = self._folder.parent / pane.turn_id
        if pane.turn_id in ("", self._request.turn_id) or not (folder / POSITION_FILE).exists():
            return
        if (folder / OVER_FILE).exists():
            return
        try:
            await self._pane_turn(folder, self._tail(folder, pane)).interrupt()
        except AgentFailed as failure:
            reason = f"{failure.message}, so this input waits"
            raise NotDelivered(reason, hint=failure.hint) from failure
        (folder / OVER_FILE).touch()

    async def wait_for_composer(self, pane: Pane) -> str:
        """Wait until the agent shows its composer; return the agent's id for the conversation."""
        assert self.agent is not None
        if pane.turn_id == self._request.turn_id and self._request.conversation is not None:
            return self._request.conversation
        deadline = _now() + START_SECONDS
        while True:
            conversation = await asyncio.to_thread(self.agent.conversation, pane)
            lines = await self._tmux.screen(pane)
            if conversation is not None and draft_in(lines, self.agent.composer_sign) is not None:
                return conversation
            await self._require_live_pane()
            if conversation is None and _now() > deadline:
                raise AgentFailed(
                    f"{self.agent.title} did not start in its pane",
                    hint=f"see what it is asking: sm attach {self._request.session.id}",
                )
            await asyncio.sleep(POLL_SECONDS)

    async def deliver(self, pane: Pane, conversation: str) -> TranscriptPosition:
        """Paste the prompt, once, and return where the turn begins in the transcript."""
        assert self.agent is not None
        await self._wait_for_paste()
        current = await self._tmux.pane(self._pane_name)
        if current is not None and current.turn_id == self._request.turn_id:
            return TranscriptPosition.load(self._position_file)
        await self._wait_until_free(pane)
        path = await asyncio.to_thread(self.agent.transcript, conversation)
        start = TranscriptPosition.end_of(path)
        start.save(self._position_file)
        # Finish the paste even if cancelled; otherwise `interrupt` could not tell whether this turn
        # had begun.
        await run_to_end(self._paste(pane, self.agent.pause_seconds))
        return start

    async def report_events(
        self, pane: Pane, conversation: str, start: TranscriptPosition
    ) -> AsyncIterator[DriverEvent]:
        """The agent's events until it is idle again."""
        agent = self.agent
        assert agent is not None
        tail = TranscriptTail(agent.reader(), start, lambda: agent.transcript(conversation))
        turn = self._pane_turn(self._folder, tail)

        async def check_agent(_: bool) -> None:
            if tail.reader.has_begun:
                await self._require_live_pane()
            else:
                await turn.submit()

        try:
            async with _in_background(agent.ask(self._request, pane, conversation)):
                async for event in follow(tail, lambda: agent.state(pane), check_agent):
                    yield event
        except Exception:
            # Nobody stopped the turn, so the agent may finish what it is doing.
            (self._folder / OVER_FILE).touch()
            raise
        (self._folder / OVER_FILE).touch()

    async def run_program(self, pane: Pane) -> AsyncIterator[DriverEvent]:
        """Type the prompt into a program that is not an agent, and yield what it prints."""
        session, turn_id = self._request.session, self._request.turn_id
        program = PaneProgram(self._tmux, session.id, session.program or "")
        if pane.turn_id != turn_id:
            pane = await program.wait_until_ready()
            TranscriptPosition(None, pane.cursor_line).save(self._position_file)
            await run_to_end(self._paste(pane, PROGRAM_PAUSE_SECONDS))
        async for event in program.answer(
            turn_id, TranscriptPosition.load(self._position_file).offset
        ):
            yield event

    async def interrupt(self) -> None:
        """Stop the agent's work on this turn. Raises `AgentFailed` if it doesn't stop."""
        pane = await self._tmux.pane(self._pane_name)
        if pane is None or pane.is_dead or pane.turn_id != self._request.turn_id:
            return
        if self.agent is None:
            await self._tmux.press(pane, "C-c")
            return
        await self._pane_turn(self._folder, self._tail(self._folder, pane)).interrupt()
        (self._folder / OVER_FILE).touch()

    def _tail(self, folder: Path, pane: Pane) -> TranscriptTail:
        """The transcript from where this folder's turn begins."""
        agent = self.agent
        assert agent is not None

        def transcript() -> Path | None:
            conversation = agent.conversation(pane)
            return None if conversation is None else agent.transcript(conversation)

        start = TranscriptPosition.load(folder / POSITION_FILE)
        return TranscriptTail(agent.reader(), start, transcript)

    def _pane_turn(self, folder: Path, tail: TranscriptTail) -> PaneTurn:
        assert self.agent is not None
        prompt = (folder / TEXT_FILE).read_text()
        hint = f"see what it is doing: sm attach {self._request.session.id}"
        return PaneTurn(self.agent, self._tmux, self._pane_name, tail, prompt, hint)

    def _command(self) -> list[str]:
        if self.agent is not None:
            return [*self.agent.command(self._request)]
        try:
            return shlex.split(self._request.session.program or "")
        except ValueError as error:
            raise AgentFailed(f"this session's command can't be parsed: {error}") from error

    async def _wait_until_free(self, pane: Pane) -> None:
        """Wait until the agent is idle and no person is typing."""
        assert self.agent is not None
        free_polls = 0
        while True:
            current = await self._tmux.pane(self._pane_name)
            if current is not None and current.is_in_mode:
                await self._tmux.leave_mode(pane)
            state = await asyncio.to_thread(self.agent.state, pane)
            draft = draft_in(await self._tmux.screen(pane), self.agent.composer_sign)
            # Checked twice, because typed keys take a moment to appear.
            free_polls = free_polls + 1 if state is AgentState.IDLE and draft == "" else 0
            if free_polls == 2:
                return
            await self._require_live_pane()
            await asyncio.sleep(POLL_SECONDS)

    async def _wait_for_paste(self) -> None:
        """Wait for tmux to finish a paste that it began for a server that has died."""
        while is_locked(self._lock):  # noqa: ASYNC110 (tmux holds it)
            await asyncio.sleep(POLL_SECONDS)

    async def _paste(self, pane: Pane, pause: float) -> None:
        await asyncio.to_thread(delete_earlier_runs, self._folder.parent, self._folder.name)
        text = self._folder / TEXT_FILE
        text.write_text(self._request.prompt)
        await self._tmux.paste_and_submit(pane, text, self._request.turn_id, pause, self._lock)

    async def _require_live_pane(self) -> None:
        pane = await self._tmux.pane(self._pane_name)
        if pane is None or pane.is_dead:
            title = "the program" if self.agent is None else self.agent.title
            raise AgentFailed(f"{title} exited during this turn")


@asynccontextmanager
async def _in_background(asking: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(asking)
    try:
        yield
    finally:
        task.cancel()
        [ending] = await asyncio.gather(task, return_exceptions=True)
        if isinstance(ending, Exception):
            log.error("can't pass on the questions in an agent's pane", exc_info=ending)


def _now() -> float:
    return asyncio.get_running_loop().time()
