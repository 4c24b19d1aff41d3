"""Turns that are one run of an agent's own command line, without a terminal."""

from __future__ import annotations

import asyncio
import shutil
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from navi.agents.client_environment import Reach, environment_of
from navi.agents.client_run import ClientRun, forget_runs
from navi.agents.driver import Driver, TurnRequest
from navi.domain.errors import AgentFailed
from navi.domain.event import Conversation, TurnEvent, Usage

Told = TurnEvent | Usage | Conversation


class Reader(Protocol):
    """What one run of a client says, line by line."""

    def read(self, line: bytes) -> Iterator[Told]: ...

    def judge(self, exit_code: int | None, complaint: str) -> None:
        """Raise `AgentFailed` unless the client did what it was asked."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to run, and what it reads on its standard input."""

    arguments: Sequence[str]
    text: str


class HeadlessDriver(Driver, ABC):
    """`runs` is where the folders of runs are; `arguments` are added to every command."""

    survives = True
    client: ClassVar[str]
    """What people call it."""

    def __init__(
        self,
        *,
        command: str,
        arguments: Sequence[str],
        runs: Path,
        environment: Mapping[str, str],
        reach: Reach | None = None,
    ) -> None:
        self._command = command
        self._arguments = tuple(arguments)
        self._runs = runs
        self._environment = environment
        self._reach = reach

    @abstractmethod
    def _order(self, request: TurnRequest, environment: Mapping[str, str]) -> Order:
        """The command of this turn, or a refusal. May look at files."""

    @abstractmethod
    def _reader(self, request: TurnRequest) -> Reader: ...

    async def turn(self, request: TurnRequest) -> AsyncGenerator[Told, None]:
        folder = self._runs / request.session.id
        run = ClientRun(folder / request.turn_id)
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
                await run.interrupt()
            raise
        run.clean_up()
        reader.judge(run.exit_code, run.complaint)

    async def _start(self, run: ClientRun, request: TurnRequest) -> None:
        environment = environment_of(request.session, self._environment, self._reach)
        program = shutil.which(self._command, path=environment.get("PATH"))
        if program is None:
            raise AgentFailed(
                f"{self.client} is not installed: there is no {self._command!r} on the PATH",
                hint="install it, or start `navi serve` with a PATH that has it",
            )
        if not request.context.cwd.is_dir():
            raise AgentFailed(
                f"the session's folder {request.context.cwd} is gone", hint="make it again"
            )
        order = await asyncio.to_thread(self._order, request, environment)
        run.start([program, *order.arguments], request.context.cwd, environment, order.text)


def end_of(client: str, exit_code: int | None, complaint: str) -> AgentFailed:
    """The words for a client that ended without saying why."""
    if exit_code is None:
        return AgentFailed(f"{client} was killed, or the machine went down, during this turn")
    if exit_code > 128:
        return AgentFailed(f"{client} was killed (signal {exit_code - 128}) during this turn")
    said = f": {complaint.splitlines()[-1]}" if complaint else ""
    return AgentFailed(f"{client} ended with {exit_code}{said}")
