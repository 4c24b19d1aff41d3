"""Turns that are one run of an agent's own command line, without a terminal."""

from __future__ import annotations

import asyncio
import shutil
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from navi.base.errors import AgentFailed, NotDelivered, OpenElsewhere
from navi.live.agents.command_line.agent_environment import Launch, with_identity
from navi.live.agents.command_line.detached_run import ClientRun, forget_runs
from navi.live.agents.driver import Driver, Told, TurnRequest
from navi.live.agents.shielding import run_to_end
from navi.live.agents.terminal.transcript_tail import (
    LOOK_SECONDS,
    Mood,
    Place,
    Record,
    TranscriptReader,
    follow,
)

CLOSING_SECONDS = 3.0
"""A terminal that is being closed says so before its agent has ended."""


class Reader(Protocol):
    """What one run of a client says, line by line."""

    def read(self, line: bytes) -> Iterator[Told]: ...

    def judge(self, exit_code: int | None, complaint: str) -> None:
        """Raise what `Driver.turn` raises unless the turn went well. May look at files."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to run, and what it reads on its standard input."""

    arguments: Sequence[str]
    text: str


class HeadlessDriver(Driver, ABC):
    survives = True
    shares_sessions = True
    client: ClassVar[str]
    """What people call it."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch

    @abstractmethod
    def _order(self, request: TurnRequest) -> Order:
        """The command of this turn, or a refusal. May look at files."""

    @abstractmethod
    def _reader(self, request: TurnRequest) -> Reader: ...

    @abstractmethod
    def conversation_of(self, request: TurnRequest) -> str | None:
        """The agent's own name for the session, if it is known or ours to choose."""

    @abstractmethod
    def _transcript(self, agent_session_id: str) -> Path | None: ...

    @abstractmethod
    def _mood(self, agent_session_id: str) -> Mood: ...

    @abstractmethod
    def _transcript_reader(self) -> TranscriptReader: ...

    async def turn(self, request: TurnRequest) -> AsyncGenerator[Told, None]:
        folder = self._launch.runs / request.session.id
        run = ClientRun(folder / request.turn_id)
        handed = folder / request.turn_id / "handed"
        if handed.exists() or _is_asked_for(request):
            async for told in self._handed_turn(request, handed):
                yield told
            return
        try:
            if not run.was_started:
                await asyncio.to_thread(forget_runs, folder, request.turn_id)
                await self._start(run, request)
            reader = self._reader(request)
            async for line in run.lines():
                for told in reader.read(line):
                    yield told
        except (asyncio.CancelledError, GeneratorExit):
            if request.is_to_stop():
                await run_to_end(run.interrupt())
            raise
        await run.clean_up()
        # In a thread: it may look at files.
        await asyncio.to_thread(reader.judge, run.exit_code, run.complaint)

    async def _handed_turn(self, request: TurnRequest, note: Path) -> AsyncIterator[Told]:
        """A turn in somebody's terminal, which its agent's hook asked for."""
        hand_over, name = request.hand_over, self.conversation_of(request)
        if name is None:
            raise NotDelivered("Navi doesn't know this terminal's session")
        await asyncio.to_thread(forget_runs, note.parent.parent, request.turn_id)
        is_new = await asyncio.to_thread(self._note, note, name)
        if is_new and hand_over is not None:
            hand_over.give(request.prompt)
        reader = self._transcript_reader()

        async def when_lost(is_overdue: bool) -> None:
            is_open = await asyncio.to_thread(self.is_open_elsewhere, name)
            if not reader.has_begun and (is_overdue or not is_open):
                await asyncio.to_thread(note.unlink, missing_ok=True)
                raise NotDelivered(f"{self.client} did not accept its hook's message")
            if not is_open:
                raise AgentFailed(f"{self.client} was closed during this turn")

        def is_over() -> bool:
            return hand_over is not None and hand_over.is_over

        place = Place.noted(note)
        record = Record(reader, place, lambda: self._transcript(name))
        async for told in follow(record, lambda: self._mood(name), when_lost, is_over):
            yield told

    def _note(self, note: Path, agent_session_id: str) -> bool:
        """Note that a text is handed over, and where its story begins. False if that was done."""
        if note.exists():
            return False
        note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        Place.end_of(self._transcript(agent_session_id)).write(note)
        return True

    async def _start(self, run: ClientRun, request: TurnRequest) -> None:
        launch = self._launch
        environment = await with_identity(launch.environment, request.session.id, launch.reach)
        program = shutil.which(launch.command, path=environment.get("PATH"))
        if program is None:
            raise AgentFailed(
                f"{self.client} is not installed: there is no {launch.command!r} on the PATH",
                hint="install it, or start `navi serve` with a PATH that has it",
            )
        if not request.context.cwd.is_dir():
            raise AgentFailed(
                f"the session's folder {request.context.cwd} is gone", hint="recreate it"
            )
        order = await self._free_order(request)
        run.start([program, *order.arguments], request.context.cwd, environment, order.text)

    async def _free_order(self, request: TurnRequest) -> Order:
        """The command, once nobody else has the session open."""
        deadline = asyncio.get_running_loop().time() + CLOSING_SECONDS
        while True:
            try:
                return await asyncio.to_thread(self._order, request)
            except OpenElsewhere:
                if asyncio.get_running_loop().time() > deadline:
                    raise
            await asyncio.sleep(LOOK_SECONDS)


def _is_asked_for(request: TurnRequest) -> bool:
    """Whether an agent in a terminal waits to be told this turn's text."""
    return request.hand_over is not None and not request.hand_over.text.done()


def end_of(client: str, exit_code: int | None, complaint: str) -> AgentFailed:
    """The words for a client that ended without saying why."""
    if exit_code is None:
        return AgentFailed(f"{client} was killed, or the machine went down, during this turn")
    if exit_code > 128:
        return AgentFailed(f"{client} was killed (signal {exit_code - 128}) during this turn")
    said = f": {complaint.splitlines()[-1]}" if complaint else ""
    return AgentFailed(f"{client} exited with code {exit_code}{said}")
