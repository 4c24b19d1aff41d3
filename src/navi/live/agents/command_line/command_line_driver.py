"""Runs each turn as one run of an agent's command line, without a terminal."""

from __future__ import annotations

import asyncio
import shutil
from abc import ABC, abstractmethod
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar, Protocol

from navi.base.errors import AgentFailed, NotDelivered, OpenElsewhere
from navi.live.agents.command_line.agent_environment import Launch, with_identity
from navi.live.agents.command_line.detached_run import DetachedRun, delete_earlier_runs
from navi.live.agents.command_line.run_questions import QuestionProtocol, RunQuestions
from navi.live.agents.driver import Driver, DriverEvent, TurnRequest
from navi.live.agents.shielding import run_to_end
from navi.live.agents.terminal.transcript_tail import (
    POLL_SECONDS,
    AgentState,
    TranscriptPosition,
    TranscriptReader,
    TranscriptTail,
    follow,
)
from navi.live.model.event import UsageWindow
from navi.live.model.session import SessionState

STATES = {
    AgentState.IDLE: SessionState.IDLE,
    AgentState.BUSY: SessionState.RUNNING,
    AgentState.ASKING: SessionState.WAITING,
}
CLOSING_SECONDS = 3.0
"""How long to wait for an agent to exit after a person has closed its terminal."""


class Reader(Protocol):
    """Reads the output of one turn, line by line."""

    def read(self, line: bytes) -> Iterator[DriverEvent]: ...

    def usage_windows(self) -> Sequence[UsageWindow]:
        """How much of its limits the account has used, if the output did not report it.

        May read files.
        """

    def raise_failure(self, exit_code: int | None, error_output: str) -> None:
        """Raise the turn's error, if it had one. `exit_code` is None if unknown. May read files."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    arguments: Sequence[str]
    input: str
    """The program's standard input."""
    may_ask: bool = False
    """Whether answers to its questions may follow `input`."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Added to its environment."""


class CommandLineDriver(Driver, ABC):
    outlives_server = True
    shares_sessions = True
    title: ClassVar[str]
    """The agent's name for people."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch

    @abstractmethod
    def _command_line(self, request: TurnRequest) -> CommandLine:
        """This turn's command line. May read files.

        Raises `OpenElsewhere` if another process has the session open.
        """

    @abstractmethod
    def _reader(self, request: TurnRequest, may_ask: bool) -> Reader:
        """A reader for the output of a command line with this `may_ask`."""

    def _question_protocol(self, request: TurnRequest) -> QuestionProtocol:
        """How the agent asks questions. Called only if its command line has `may_ask`."""
        raise NotImplementedError

    def _command_line_to_resume(
        self, request: TurnRequest, protocol: QuestionProtocol
    ) -> CommandLine | None:
        """The command line that continues the turn after the agent has ended with open questions.

        None if the agent can't continue. May read files. Raises `OpenElsewhere` if another process
        has the session open.
        """
        return None

    @abstractmethod
    def conversation_of(self, request: TurnRequest) -> str | None:
        """The agent's own id for the conversation; None if it has not chosen one yet."""

    @abstractmethod
    def _transcript(self, agent_session_id: str) -> Path | None: ...

    @abstractmethod
    def _state(self, agent_session_id: str) -> AgentState: ...

    @abstractmethod
    def _transcript_reader(self) -> TranscriptReader: ...

    def state_in_terminal(self, agent_session_id: str) -> SessionState | None:
        return STATES.get(self._state(agent_session_id))

    async def turn(self, request: TurnRequest) -> AsyncGenerator[DriverEvent, None]:
        folder = self._launch.runs / request.session.id
        run = DetachedRun(folder / request.turn_id)
        position_file = folder / request.turn_id / "handed"
        if position_file.exists() or _is_hook_waiting(request):
            async for event in self._turn_in_terminal(request, position_file):
                yield event
            return
        try:
            if not run.was_started:
                await asyncio.to_thread(delete_earlier_runs, folder, request.turn_id)
                await self._start(run, request, self._command_line)
            reader = self._reader(request, run.may_ask)
            protocol = self._question_protocol(request) if run.may_ask else None
            async with aclosing(self._events(run, request, reader, protocol)) as events:
                async for event in events:
                    yield event
        except (asyncio.CancelledError, GeneratorExit):
            if request.should_stop():
                await run_to_end(run.last.interrupt())
            raise
        run = run.last
        await run.clean_up()
        # An agent that is done waits for the end of its input. Killing it then does no harm.
        is_done = protocol is not None and protocol.is_over and run.was_killed
        exit_code = 0 if is_done else run.exit_code
        # In threads, because they may read files.
        for window in await asyncio.to_thread(reader.usage_windows):
            yield window
        await asyncio.to_thread(reader.raise_failure, exit_code, run.error_output)

    async def _events(
        self,
        run: DetachedRun,
        request: TurnRequest,
        reader: Reader,
        protocol: QuestionProtocol | None,
    ) -> AsyncGenerator[DriverEvent, None]:
        if protocol is None:
            async for line in run.lines():
                for event in reader.read(line):
                    yield event
            return
        async with RunQuestions(request, protocol) as questions:
            was_restarted = False
            while True:
                questions.follow(run)
                async for line in run.lines(questions.check):
                    for event in reader.read(line):
                        yield event
                    questions.read(line)
                if not protocol.has_deferred:
                    if was_restarted or not run.was_killed:
                        return
                    was_restarted = True
                if not await self._resume(run, request, questions, protocol):
                    return
                run = run.continuation()

    async def _resume(
        self,
        run: DetachedRun,
        request: TurnRequest,
        questions: RunQuestions,
        protocol: QuestionProtocol,
    ) -> bool:
        """Restart an agent that exited to wait for a person's decision, or that was killed while it
        waited for answers.

        The restarted agent asks again. Returns False if the agent can't be restarted.
        """
        resumed = run.continuation()
        if resumed.was_started:
            return True
        if protocol.has_deferred:
            await questions.wait_for_deferred()
        elif not questions.can_restart(run):
            return False
        await run.clean_up()
        try:
            return await self._start(
                resumed, request, partial(self._command_line_to_resume, protocol=protocol)
            )
        except OpenElsewhere:
            return False

    async def _turn_in_terminal(
        self, request: TurnRequest, position_file: Path
    ) -> AsyncIterator[DriverEvent]:
        """Hand the turn to the agent in a person's terminal, if not done before, and follow it."""
        hand_over, conversation = request.hand_over, self.conversation_of(request)
        if conversation is None:
            raise NotDelivered("Navi doesn't know which session is open in this terminal")
        await asyncio.to_thread(delete_earlier_runs, position_file.parent.parent, request.turn_id)
        is_new = await asyncio.to_thread(self._save_position, position_file, conversation)
        if is_new and hand_over is not None:
            hand_over.give(request.prompt)
        reader = self._transcript_reader()

        async def check_agent(is_overdue: bool) -> None:
            is_open = await asyncio.to_thread(self.is_open_elsewhere, conversation)
            if not reader.has_begun and (is_overdue or not is_open):
                await asyncio.to_thread(position_file.unlink, missing_ok=True)
                raise NotDelivered(f"{self.title} did not accept its hook's message")
            if not is_open:
                raise AgentFailed(f"{self.title} was closed during this turn")

        def is_over() -> bool:
            return hand_over is not None and hand_over.is_over

        start = TranscriptPosition.load(position_file)
        tail = TranscriptTail(reader, start, lambda: self._transcript(conversation))
        async for event in follow(tail, lambda: self._state(conversation), check_agent, is_over):
            yield event

    def _save_position(self, file: Path, agent_session_id: str) -> bool:
        """Save where the turn begins in the transcript. False if it was saved before."""
        if file.exists():
            return False
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        TranscriptPosition.end_of(self._transcript(agent_session_id)).save(file)
        return True

    async def _start(
        self,
        run: DetachedRun,
        request: TurnRequest,
        command_line_of: Callable[[TurnRequest], CommandLine | None],
    ) -> bool:
        """Start the agent. False if there is no command line for it."""
        launch = self._launch
        environment = await with_identity(launch.environment, request.session.id, launch.access)
        program = shutil.which(launch.command, path=environment.get("PATH"))
        if program is None:
            raise AgentFailed(
                f"{self.title} is not installed: there is no {launch.command!r} on the PATH",
                hint="install it, or start `navi serve` with a PATH that contains it",
            )
        if not request.context.cwd.is_dir():
            raise AgentFailed(
                f"the session's folder {request.context.cwd} no longer exists", hint="recreate it"
            )
        command_line = await self._wait_for_command_line(request, command_line_of)
        if command_line is None:
            return False
        run.start(
            [program, *command_line.arguments],
            request.context.cwd,
            {**environment, **command_line.variables},
            command_line.input,
            may_ask=command_line.may_ask,
        )
        return True

    async def _wait_for_command_line(
        self, request: TurnRequest, command_line_of: Callable[[TurnRequest], CommandLine | None]
    ) -> CommandLine | None:
        """The command line. Waits for an agent that is still closing in a person's terminal."""
        deadline = asyncio.get_running_loop().time() + CLOSING_SECONDS
        while True:
            try:
                return await asyncio.to_thread(command_line_of, request)
            except OpenElsewhere:
                if asyncio.get_running_loop().time() > deadline:
                    raise
            await asyncio.sleep(POLL_SECONDS)


def _is_hook_waiting(request: TurnRequest) -> bool:
    """Whether the hook of an agent in a terminal is waiting for this turn's prompt."""
    return request.hand_over is not None and not request.hand_over.text.done()


def unexplained_exit(title: str, exit_code: int | None, error_output: str) -> AgentFailed:
    """The error for an agent that ended without giving a reason."""
    if exit_code is None:
        return AgentFailed(f"{title} was killed, or the machine went down, during this turn")
    if exit_code > 128:
        return AgentFailed(f"{title} was killed (signal {exit_code - 128}) during this turn")
    detail = f": {error_output.splitlines()[-1]}" if error_output else ""
    return AgentFailed(f"{title} exited with code {exit_code}{detail}")
