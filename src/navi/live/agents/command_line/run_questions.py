"""The questions that an agent asks during one turn: asks people, and hands over the answers.

A question is stored first, and its answer is handed to the agent in a step of its own, which may be
repeated. So the next server, which reads the run's output again from the beginning, asks the same
questions and hands over answers that came in the meantime.
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
    """The agent waits for the answers to all of these questions."""

    id: str
    """The agent's id for what it waits for."""
    questions: Sequence[NewQuestion]
    content: Any = None
    """What the protocol needs for its answer."""
    is_deferred: bool = False
    """The agent doesn't wait: it ends, and asks again once it is started again."""

    @property
    def call_id(self) -> str:
        return self.questions[0].call_id


@dataclass(frozen=True, slots=True)
class Settled:
    """The agent no longer waits for this inquiry, or confirms that it has read the line."""

    id: str


@dataclass(frozen=True, slots=True)
class Reply:
    """A line, or several, to write to the agent."""

    id: str
    line: str
    is_repeatable: bool = True
    """Whether the agent ignores repetitions. If not, it confirms the line with `Settled`."""


@dataclass(frozen=True, slots=True)
class Reachable:
    """This call has just ended, so the agent can take a message now."""

    call_id: str
    line_of: Callable[[str], str]
    """The line to write for a text."""


Step = Inquiry | Settled | Reply | Reachable


class AgentInput(Protocol):
    """Takes what is written to an agent that asks."""

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
        """What to write; None if the agent is no longer waiting."""

    @property
    def is_over(self) -> bool:
        """Whether the agent has done everything, so that its input can end."""

    @property
    def has_deferred(self) -> bool:
        """Whether the agent ended because a person has to decide first."""

    def waits_only_for(self, call_ids: Collection[str]) -> bool:
        """Whether nothing else can have been running when the agent was killed."""

    def begin_again(self) -> None:
        """Call this before reading a run that continues a killed one."""


@dataclass(frozen=True, slots=True)
class _Wait:
    """A task that waits until a question is closed."""

    fingerprint: str
    ids: Sequence[str]
    """The question's id and, if the agent was restarted, the id under which it asked before."""
    task: asyncio.Task[Question]


class RunQuestions:
    """If the agent is in a terminal, a person may answer there: `is_in_terminal`."""

    def __init__(
        self, request: TurnRequest, protocol: QuestionProtocol, *, is_in_terminal: bool = False
    ) -> None:
        self._request = request
        self._protocol = protocol
        self._close_settled = request.settle if is_in_terminal else request.withdraw
        self._run: AgentInput | None = None
        self._inquiries: dict[str, Inquiry] = {}
        """What the agent waits for, by its id."""
        self._waits: dict[str, list[_Wait]] = {}
        self._earlier: dict[str, _Wait] = {}
        """What the agent asked before it was restarted, by fingerprint."""
        self._settled: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._old_bytes = 0
        """How much output is left that an earlier server may have read."""
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
        """Hand answers to this run from now on."""
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
        """Raise what went wrong while asking."""
        for task in [task for task in self._tasks if task.done()]:
            self._tasks.discard(task)
            if not task.cancelled():
                task.result()

    def can_be_asked_again(self, run: DetachedRun) -> bool:
        """Whether the killed agent was only waiting for answers, and got none of them.

        Starting it again then does nothing twice.
        """
        call_ids = {inquiry.call_id for inquiry in self._inquiries.values()}
        is_answered = any(each in run.handed_over for each in self._inquiries)
        return bool(call_ids) and not is_answered and self._protocol.waits_only_for(call_ids)

    async def wait_for_deferred(self) -> None:
        """Wait until everything is answered that the agent asked before it ended by itself."""
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
        """The question once it is closed. If the agent asked it before it was killed, that one
        counts."""
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
        """Close what the agent asked before it was killed, but has not asked again."""
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
