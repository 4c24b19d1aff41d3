"""Passes the questions of an agent to people, and their answers to the agent, during one turn.

Questions are stored, and writing an answer to the agent may be repeated. So the next server can
read the run's output again from the beginning: it finds the same questions, and writes the answers
that were given in the meantime.
"""

from __future__ import annotations

import asyncio
from asyncio import FIRST_COMPLETED
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from types import TracebackType
from typing import Any, Protocol

from navi.live.agents.command_line.detached_run import DetachedRun
from navi.live.agents.driver import TurnRequest
from navi.live.model.question import (
    Decision,
    NewQuestion,
    Question,
    QuestionNotFound,
    QuestionState,
    question_id,
)

PAUSE_SECONDS = 0.02
CONFIRMATION_SECONDS = 5.0
"""How long an agent may take to confirm an answer that an earlier server wrote."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """Questions that the agent asks together. It waits until all of them are answered."""

    id: str
    """The agent's own id for the inquiry."""
    questions: Sequence[NewQuestion]
    content: Any = None
    """Data that the protocol needs to build the answer."""
    is_deferred: bool = False
    """The agent doesn't wait: it exits, and asks again when it is restarted."""

    @property
    def call_id(self) -> str:
        return self.questions[0].call_id


@dataclass(frozen=True, slots=True)
class Settled:
    """The agent no longer waits for the inquiry with this id, or confirms that it got the reply."""

    id: str


@dataclass(frozen=True, slots=True)
class Reply:
    """One or more lines to write to the agent."""

    id: str
    line: str
    is_repeatable: bool = True
    """Whether the agent ignores repetitions. If not, it confirms the reply with `Settled`."""


@dataclass(frozen=True, slots=True)
class Reachable:
    """This call has just ended, so the agent can take a message now."""

    call_id: str
    line_of: Callable[[str], str]
    """Makes the line to write from the text of a message."""


Step = Inquiry | Settled | Reply | Reachable


class AgentInput(Protocol):
    """The standard input of an agent that may ask, and how much of it was used before."""

    async def hand_over(self, answer_id: str, line: str) -> None: ...

    @property
    def handed_over(self) -> Collection[str]:
        """The ids of the answers that the agent may have read."""

    @property
    def output_bytes(self) -> int:
        """How much of its output an earlier server may have read."""

    def end_input(self) -> None: ...


class QuestionProtocol(Protocol):
    """How an agent asks in its output, and how to answer on its input."""

    def read(self, line: bytes) -> Iterator[Step]: ...

    def answer(self, inquiry: Inquiry, closed: Sequence[Question]) -> Reply | None:
        """The reply to write; None if the agent is no longer waiting."""

    @property
    def is_over(self) -> bool:
        """Whether the agent is done, so that its input can be closed."""

    @property
    def has_deferred(self) -> bool:
        """Whether the agent ended because a person has to decide first."""

    def waits_only_for(self, call_ids: Collection[str]) -> bool:
        """Whether the agent was waiting for these calls, and running nothing else, when it was
        killed."""

    def begin_again(self) -> None:
        """Forget the previous run. Call this before reading the run that continues it."""


@dataclass(frozen=True, slots=True)
class _Wait:
    """A task that waits until a question is closed."""

    fingerprint: str
    ids: Sequence[str]
    """The question's id and, if the agent was restarted, the id under which it asked before."""
    task: asyncio.Task[Question]


class RunQuestions:
    """Handles the questions of one turn.

    Set `is_in_terminal` if a person may also answer in the agent's terminal.
    """

    def __init__(
        self, request: TurnRequest, protocol: QuestionProtocol, *, is_in_terminal: bool = False
    ) -> None:
        self._request = request
        self._protocol = protocol
        self._close_settled = request.settle if is_in_terminal else request.withdraw
        self._run: AgentInput | None = None
        self._inquiries: dict[str, Inquiry] = {}
        """The open inquiries, by id."""
        self._waits: dict[str, list[_Wait]] = {}
        self._earlier: dict[str, _Wait] = {}
        """The questions of the run before the restart that were not asked again yet, by
        fingerprint."""
        self._settled: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._old_bytes = 0
        """How many of the bytes still to be read an earlier server may have read before."""
        self._has_ended_input = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> RunQuestions:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        waits = [*chain(*self._waits.values()), *self._earlier.values()]
        tasks = [*self._tasks, *(wait.task for wait in waits)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def follow(self, run: AgentInput) -> None:
        """Follow this run from now on. Call this first, and again after each restart."""
        if self._run is not None:
            self._protocol.begin_again()
            waits = chain(*self._waits.values())
            self._earlier = {wait.fingerprint: wait for wait in waits}
            self._waits.clear()
            self._inquiries.clear()
            self._settled.clear()
        self._run = run
        self._old_bytes = run.output_bytes
        self._has_ended_input = False

    def read(self, line: bytes) -> None:
        """Process a line of the run's output."""
        self._old_bytes -= len(line) + 1
        for step in self._protocol.read(line):
            match step:
                case Inquiry():
                    self._inquiries[step.id] = step
                    self._waits[step.id] = [self._wait(new) for new in step.questions]
                    self._begin(self._answer(step, self._waits[step.id]))
                case Settled():
                    self._settle(step.id)
                case Reply():
                    self._begin(self._hand_over(self._running, step))
                case Reachable() if self._old_bytes < 0:
                    self._begin(self._nudge(self._running, step))
        if self._protocol.is_over and not self._has_ended_input:
            self._has_ended_input = True
            self._running.end_input()

    def check(self) -> None:
        """Raise the error of any background task that failed."""
        for task in [task for task in self._tasks if task.done()]:
            self._tasks.discard(task)
            if not task.cancelled():
                task.result()

    def can_restart(self, run: DetachedRun) -> bool:
        """Whether the killed agent was only waiting for answers, and had got none of them.

        If so, a restart does nothing twice.
        """
        call_ids = {inquiry.call_id for inquiry in self._inquiries.values()}
        is_answered = any(each in run.handed_over for each in self._inquiries)
        return bool(call_ids) and not is_answered and self._protocol.waits_only_for(call_ids)

    async def wait_for_deferred(self) -> None:
        """Wait for the answers to the questions that the agent asked before it exited."""
        deferred = [each.id for each in self._inquiries.values() if each.is_deferred]
        waits = chain.from_iterable(self._waits[each] for each in deferred)
        await asyncio.gather(*(wait.task for wait in waits))
        self.check()

    @property
    def _running(self) -> AgentInput:
        assert self._run is not None
        return self._run

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.add(asyncio.create_task(work))

    def _wait(self, new: NewQuestion) -> _Wait:
        earlier = self._earlier.pop(new.fingerprint, None)
        ids = [self._id_of(new)]
        ids += [] if earlier is None else earlier.ids
        return _Wait(new.fingerprint, ids, asyncio.create_task(self._closed(new, earlier)))

    async def _answer(self, inquiry: Inquiry, waits: Sequence[_Wait]) -> None:
        """Wait for all answers, and hand them over, unless the agent stops waiting."""
        run = self._running
        await self._withdraw_earlier()
        open_tasks = {wait.task for wait in waits}
        while open_tasks:
            done, open_tasks = await asyncio.wait(open_tasks, return_when=FIRST_COMPLETED)
            if self._inquiries.get(inquiry.id) is not inquiry:
                return
            if open_tasks and any(_is_declined(task.result()) for task in done):
                # If one is declined, the agent gets no answer to the others.
                await self._withdraw(waits)
        if inquiry.is_deferred:
            return
        answer = self._protocol.answer(inquiry, [wait.task.result() for wait in waits])
        if answer is not None:
            await self._hand_over(run, answer)

    async def _hand_over(self, run: AgentInput, reply: Reply) -> None:
        if not reply.is_repeatable and reply.id in run.handed_over:
            # An earlier server wrote it, unless it was killed at that very moment.
            with suppress(TimeoutError):
                async with asyncio.timeout(CONFIRMATION_SECONDS):
                    await self._settled[reply.id].wait()
                    return
        await run.hand_over(reply.id, reply.line)

    async def _nudge(self, run: AgentInput, reachable: Reachable) -> None:
        """Give the agent its queued nudges."""
        texts = await self._request.context.nudges(reachable.call_id)
        if texts:
            line = reachable.line_of("\n\n".join(texts))
            await run.hand_over(f"nudge {reachable.call_id}", line)

    async def _closed(self, new: NewQuestion, earlier: _Wait | None) -> Question:
        """Return the question once it is closed.

        If the agent asked it before the restart, it is not asked again unless it was withdrawn.
        """
        if earlier is not None:
            question = await earlier.task
            if question.state is not QuestionState.WITHDRAWN:
                return question
        return await self._request.ask(new)

    def _settle(self, inquiry_id: str) -> None:
        self._settled[inquiry_id].set()
        inquiry, waits = self._inquiries.pop(inquiry_id, None), self._waits.pop(inquiry_id, [])
        if inquiry is not None:
            self._begin(self._withdraw(waits, self._close_settled))

    async def _withdraw_earlier(self) -> None:
        """Close the questions that the agent has not asked again after the restart."""
        waits = list(self._earlier.values())
        self._earlier.clear()
        await self._withdraw(waits)

    async def _withdraw(
        self, waits: Sequence[_Wait], close: Callable[[str], Awaitable[None]] | None = None
    ) -> None:
        """Close these questions, including those that are still being stored."""
        close = close or self._request.withdraw
        while open_waits := [wait for wait in waits if not wait.task.done()]:
            for each in chain(*(wait.ids for wait in open_waits)):
                with suppress(QuestionNotFound):
                    await close(each)
            await asyncio.wait({wait.task for wait in open_waits}, timeout=PAUSE_SECONDS)

    def _id_of(self, new: NewQuestion) -> str:
        return question_id(self._request.session.id, new.call_id, new.fingerprint)


def _is_declined(question: Question) -> bool:
    return question.answer is not None and question.answer.decision is Decision.DENY
