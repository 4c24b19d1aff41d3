"""Turns in a terminal that a person can look into: an agent in a pane of tmux.

A text is pasted into the pane and submitted; what the agent says is read from its own transcript.
The pane, the agent in it and both their notes outlive the server.
"""

from __future__ import annotations

import asyncio
import shlex
import shutil
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from pathlib import Path

from navi.base.errors import AgentFailed, NotDelivered
from navi.base.paths import pane_name
from navi.live.agents.command_line.agent_environment import Reach, with_identity
from navi.live.agents.command_line.detached_run import forget_runs
from navi.live.agents.driver import Driver, Told, TurnRequest
from navi.live.agents.shielding import run_to_end
from navi.live.agents.terminal.pane_agent import PaneAgent
from navi.live.agents.terminal.pane_program import PaneProgram
from navi.live.agents.terminal.pane_turn import PaneTurn
from navi.live.agents.terminal.tmux import LAUNCH, Pane, Tmux, draft_in, is_held
from navi.live.agents.terminal.transcript_tail import LOOK_SECONDS, Mood, Place, Record, follow
from navi.live.model.event import Conversation
from navi.live.model.session import Session

START_SECONDS = 60.0
"""A client that shows no prompt by then asks something that only a person can answer."""
PROGRAM_PAUSE_SECONDS = 0.2
"""Between a paste and its Enter, for a program that is not one of the agents."""
TEXT, PLACE, OVER = "text", "place", "over"
"""Files in a turn's folder: its prompt, where its record begins in the transcript, and a sign that
its agent no longer works on it, or may go on with it."""


class PaneDriver(Driver):
    """`session.program` names what runs in the pane: one of `agents`, or any command line, which
    may see no more than `environment`. Where it names nothing, that is `default_agent`."""

    survives = True
    runs_programs = True

    def __init__(
        self,
        agents: Mapping[str, PaneAgent],
        *,
        default_agent: str,
        socket: str,
        runs: Path,
        environment: Mapping[str, str],
        reach: Reach | None = None,
    ) -> None:
        self._agents = agents
        self._default_agent = default_agent
        self._socket = socket
        self._runs = runs
        self._environment = environment
        self._reach = reach
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        for launch in runs.glob("*/*/launch"):
            launch.unlink(missing_ok=True)  # left by earlier versions, with keys in it

    async def turn(self, request: TurnRequest) -> AsyncGenerator[Told, None]:
        work = _Work(self, request, self._environment, self._reach)
        try:
            async with self._locks[request.session.id]:
                pane = await work.pane()
                if work.agent is None:
                    async for told in work.type_blindly(pane):
                        yield told
                    return
                await work.end_earlier(pane)
                name = await work.ready(pane)
                yield Conversation(name)
                place = await work.deliver(pane, name)
            async for told in work.follow(pane, name, place):
                yield told
        except (asyncio.CancelledError, GeneratorExit):
            if request.is_to_stop():
                await run_to_end(work.interrupt())
            raise

    async def end(self, session: Session) -> None:
        if shutil.which("tmux", path=self._environment.get("PATH")) is not None:
            await Tmux(self._socket, self._environment).end(pane_name(session.id))
        for launch in (self._runs / session.id).glob(f"*/{LAUNCH}*"):
            launch.unlink(missing_ok=True)  # of a pane that was never started

    async def open_sessions(self) -> list[str]:
        if shutil.which("tmux", path=self._environment.get("PATH")) is None:
            return []
        names = await Tmux(self._socket, self._environment).names()
        start = pane_name("")
        return [name.removeprefix(start) for name in names if name.startswith(start)]

    def can_report(self, session: Session) -> bool:
        return self.agent_of(session) is not None

    def agent_of(self, session: Session) -> PaneAgent | None:
        return self._agents.get(session.program or self._default_agent)

    @property
    def runs(self) -> Path:
        return self._runs

    @property
    def socket(self) -> str:
        return self._socket


class _Work:
    """One turn."""

    def __init__(
        self,
        driver: PaneDriver,
        request: TurnRequest,
        environment: Mapping[str, str],
        reach: Reach | None,
    ) -> None:
        self.agent = driver.agent_of(request.session)
        self._request = request
        self._environment = environment if self.agent is None else self.agent.environment
        self._reach = reach
        self._tmux = Tmux(driver.socket, environment)
        self._name = pane_name(request.session.id)
        self._folder = driver.runs / request.session.id / request.turn_id
        self._lock = self._folder / "lock"
        self._note = self._folder / PLACE

    async def pane(self) -> Pane:
        """The session's pane, with its agent alive in it."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        context = str(self._request.session.context_from_idx)
        pane = await self._tmux.pane(self._name)
        if pane is not None and not pane.is_dead and pane.context == context:
            return pane
        if self._note.exists():
            # It was put in, and may have been read. Putting it in again could do things twice.
            raise AgentFailed("the pane of this session was closed during this turn")
        if pane is not None:
            await self._tmux.end(self._name)
        session_id, cwd = self._request.session.id, self._request.context.cwd
        environment = await with_identity(self._environment, session_id, self._reach)
        command = self._command()
        return await self._tmux.start(self._name, command, cwd, self._folder, context, environment)

    async def end_earlier(self, pane: Pane) -> None:
        """Interrupt the agent if it goes on with an earlier turn that was stopped.

        It did not react at the time, or the server died before it could interrupt it.
        """
        folder = self._folder.parent / pane.turn_id
        if pane.turn_id in ("", self._request.turn_id) or not (folder / PLACE).exists():
            return
        if (folder / OVER).exists():
            return
        try:
            await self._turn(folder, self._record(folder, pane)).interrupt()
        except AgentFailed as failure:
            reason = f"{failure.message}, so this input waits"
            raise NotDelivered(reason, hint=failure.hint) from failure
        (folder / OVER).touch()

    async def ready(self, pane: Pane) -> str:
        """Wait until the agent shows its prompt; its name for the conversation."""
        assert self.agent is not None
        if pane.turn_id == self._request.turn_id and self._request.conversation is not None:
            return self._request.conversation
        deadline = _now() + START_SECONDS
        while True:
            name = await asyncio.to_thread(self.agent.conversation, pane)
            lines = await self._tmux.screen(pane)
            if name is not None and draft_in(lines, self.agent.mark) is not None:
                return name
            await self._must_live()
            if name is None and _now() > deadline:
                raise AgentFailed(
                    f"{self.agent.client} did not start in its pane",
                    hint=f"see what it is asking: sm attach {self._request.session.id}",
                )
            await asyncio.sleep(LOOK_SECONDS)

    async def deliver(self, pane: Pane, name: str) -> Place:
        """Put the prompt in, unless that was done; where its story begins in the transcript."""
        assert self.agent is not None
        await self._order_ends()
        known = await self._tmux.pane(self._name)
        if known is not None and known.turn_id == self._request.turn_id:
            return Place.noted(self._note)
        await self._is_free(pane)
        path = await asyncio.to_thread(self.agent.transcript, name)
        place = Place.end_of(path)
        place.write(self._note)
        # To its end, or an interruption would not know that there is something to interrupt.
        await run_to_end(self._put(pane, self.agent.pause_seconds))
        return place

    async def follow(self, pane: Pane, name: str, place: Place) -> AsyncIterator[Told]:
        """What the agent says until it is idle again."""
        agent = self.agent
        assert agent is not None
        record = Record(agent.reader(), place, lambda: agent.transcript(name))
        turn = self._turn(self._folder, record)

        async def when_lost(_: bool) -> None:
            if record.reader.has_begun:
                await self._must_live()
            else:
                await turn.see_to_submission()

        try:
            async for told in follow(record, lambda: agent.mood(pane), when_lost):
                yield told
        except Exception:
            # Nobody asked the agent to stop: whatever it still does, it may finish.
            (self._folder / OVER).touch()
            raise
        (self._folder / OVER).touch()

    async def type_blindly(self, pane: Pane) -> AsyncIterator[Told]:
        """To a program that is not one of `agents`; what it then prints."""
        session, turn_id = self._request.session, self._request.turn_id
        program = PaneProgram(self._tmux, session.id, session.program or "")
        if pane.turn_id != turn_id:
            pane = await program.ready()
            Place(None, pane.cursor_line).write(self._note)
            await run_to_end(self._put(pane, PROGRAM_PAUSE_SECONDS))
        async for told in program.answer(turn_id, Place.noted(self._note).offset):
            yield told

    async def interrupt(self) -> None:
        """End the agent's work on this turn, or raise."""
        pane = await self._tmux.pane(self._name)
        if pane is None or pane.is_dead or pane.turn_id != self._request.turn_id:
            return
        if self.agent is None:
            await self._tmux.press(pane, "C-c")
            return
        await self._turn(self._folder, self._record(self._folder, pane)).interrupt()
        (self._folder / OVER).touch()

    def _record(self, folder: Path, pane: Pane) -> Record:
        """Of the turn whose prompt was put into the pane from that folder."""
        agent = self.agent
        assert agent is not None

        def transcript() -> Path | None:
            name = agent.conversation(pane)
            return None if name is None else agent.transcript(name)

        return Record(agent.reader(), Place.noted(folder / PLACE), transcript)

    def _turn(self, folder: Path, record: Record) -> PaneTurn:
        assert self.agent is not None
        prompt = (folder / TEXT).read_text()
        hint = f"see what it is doing: sm attach {self._request.session.id}"
        return PaneTurn(self.agent, self._tmux, self._name, record, prompt, hint)

    def _command(self) -> list[str]:
        if self.agent is not None:
            return [*self.agent.command(self._request)]
        try:
            words = shlex.split(self._request.session.program or "")
        except ValueError as error:
            raise AgentFailed(f"can't read the command of this session: {error}") from error
        return words

    async def _is_free(self, pane: Pane) -> None:
        """Wait for the agent to be idle, and for a person to finish their line."""
        assert self.agent is not None
        free_looks = 0
        while True:
            now = await self._tmux.pane(self._name)
            if now is not None and now.is_in_mode:
                await self._tmux.leave_mode(pane)
            mood = await asyncio.to_thread(self.agent.mood, pane)
            draft = draft_in(await self._tmux.screen(pane), self.agent.mark)
            # Looked at twice: what is being typed takes a moment to be shown.
            free_looks = free_looks + 1 if mood is Mood.IDLE and draft == "" else 0
            if free_looks == 2:
                return
            await self._must_live()
            await asyncio.sleep(LOOK_SECONDS)

    async def _order_ends(self) -> None:
        """A server that is gone may have given an order to tmux that is still under way."""
        while True:
            if not is_held(self._lock):
                return
            await asyncio.sleep(LOOK_SECONDS)

    async def _put(self, pane: Pane, pause: float) -> None:
        await asyncio.to_thread(forget_runs, self._folder.parent, self._folder.name)
        text = self._folder / TEXT
        text.write_text(self._request.prompt)
        await self._tmux.put(pane, text, self._request.turn_id, pause, self._lock)

    async def _must_live(self) -> None:
        pane = await self._tmux.pane(self._name)
        if pane is None or pane.is_dead:
            client = "the program" if self.agent is None else self.agent.client
            raise AgentFailed(f"{client} ended in its pane during this turn")


def _now() -> float:
    return asyncio.get_running_loop().time()
