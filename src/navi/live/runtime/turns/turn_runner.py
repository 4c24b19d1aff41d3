"""Begins turns and runs their drivers, at most one turn per session at a time."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path
from typing import Protocol

from navi.base.clock import Clock
from navi.base.errors import (
    AgentFailed,
    FenceLost,
    Interrupted,
    IterationLimit,
    NaviError,
    NotDelivered,
    OpenElsewhere,
    PermissionRefused,
    UsageLimit,
)
from navi.base.ids import new_id
from navi.live.agents.driver import Driver, HandOver, TurnRequest
from navi.live.model.access.quota import Limits
from navi.live.model.access.user import User
from navi.live.model.budget import NOTHING, Amount
from navi.live.model.event import (
    Asking,
    Compacting,
    Conversation,
    ToolFinished,
    Usage,
    UsageWindow,
)
from navi.live.model.input import TIME_LIMIT, Admission, NewInput, Origin, prompt_of
from navi.live.model.question import NewQuestion, Question
from navi.live.model.repeated_calls import RepeatedCalls
from navi.live.model.scheduling.automation import Kind
from navi.live.model.scheduling.scheduled_prompt import ScheduledPrompt
from navi.live.model.session import Session
from navi.live.model.tool import ToolContext
from navi.live.model.turn import SERVER_STOPPED, Ending, Outcome, RunningTurn, Turn
from navi.live.model.usage_limit import Account, RetryPolicy
from navi.live.runtime.turns.event_writer import EventWriter
from navi.live.runtime.turns.time_limit import TimeLimit
from navi.live.runtime.turns.turn_questions import OpenQuestions
from navi.live.runtime.turns.turn_slots import TurnSlots
from navi.live.store import input_queue, sessions, steering, terminals, turns, usage_limits
from navi.live.store.engine.transactions import Store
from navi.live.store.scheduling import automation_runs, compactions, reminders
from navi.memory.prices import cost_of

TERMINAL_WAIT_SECONDS = 2.0
"""How long a hook that asks for the next prompt waits until the previous turn's end is stored."""

log = logging.getLogger("navi.turns")


@dataclass(slots=True)
class _LocalTurn:
    """A turn that this process runs."""

    turn: Turn
    task: asyncio.Task[None]
    driver_task: asyncio.Task[None] | None = None
    usage: Usage = field(default_factory=Usage)
    should_stop: bool = False
    hand_over: HandOver | None = None
    ask: Callable[[NewQuestion], Awaitable[Question]] | None = None
    """Asks a person a question on behalf of this turn. Set once the turn has begun."""
    must_enter_driver: bool = False
    """Start the driver before cancelling it: only the driver can stop an agent that is running."""
    calls: RepeatedCalls = field(default_factory=lambda: RepeatedCalls(0, {}))
    is_finishing: bool = False
    """The turn's end is being written, so the store may already show it as ended."""


@dataclass(frozen=True, slots=True)
class TurnGuards:
    """Limits that keep unattended agents from using more than a person wants."""

    usual_day: Amount = NOTHING
    """How much all sessions of a user may use per day, unless the user has set a budget."""
    repeated_calls: int = 0
    """Ask a person after this many identical calls in a row; 0 means never."""


class JobPrompts(Protocol):
    """Writes the prompts of Navi's own automations."""

    async def prompt(self, job: str, now: datetime) -> ScheduledPrompt | None:
        """The job's prompt; None if the job has nothing to do."""


class TurnRunner:
    """The turns of this process."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        owner: str,
        drivers: Mapping[str, Driver],
        lease: timedelta,
        slots: TurnSlots,
        questions: OpenQuestions,
        job_prompts: JobPrompts,
        zone: tzinfo,
        retry: RetryPolicy,
        guards: TurnGuards,
    ) -> None:
        self._store = store
        self._clock = clock
        self._owner = owner
        self._drivers = drivers
        self._lease = lease
        self._slots = slots
        self._job_prompts = job_prompts
        self._zone = zone
        self.questions = questions
        self.retry = retry
        self._guards = guards
        self._beginning: set[str] = set()
        self._stopped_early: set[str] = set()
        """The turns among `_beginning` that have been asked to stop."""
        self._local: dict[str, _LocalTurn] = {}
        self._is_shutting_down = False
        self.on_change: Callable[[], None] = lambda: None
        """Called when a turn may have become possible, because one ended or an input was queued."""
        questions.on_free_slot = lambda: self.on_change()

    @property
    def count(self) -> int:
        return len(self._local) + len(self._beginning)

    def active_turn_ids(self) -> set[str]:
        """The turns this process runs, except those whose end is being written."""
        return {local.turn.id for local in self._local.values() if not local.is_finishing}

    def is_ours(self, turn_id: str) -> bool:
        """Whether this process runs the turn."""
        return turn_id in self._beginning or any(
            local.turn.id == turn_id for local in self._local.values()
        )

    async def begin(self, session_id: str, user_id: str) -> bool:
        """Begin the session's next turn, in a slot held for its user. False if it can't begin."""
        with self._holding_slots(new_id(), user_id) as claim:
            start = await self._store.transact(turns.begin, session_id, claim)
            self._start(start)
            return start is not None

    async def hand_over(self, session: Session) -> str | None:
        """Begin the session's next turn in the terminal that asks for it, and return its prompt.

        None if nothing is queued, no turn can begin now, or the turn ends without a prompt.
        """
        session_id = session.id
        if not await self._store.transact(input_queue.list_inputs, session_id):
            return None
        await self._wait_for_last_turn(session_id)
        hand_over = HandOver()
        with self._holding_slots(new_id(), session.user_id) as claim:
            claim = replace(claim, is_hand_over=True)
            start = await self._store.transact(turns.begin, session_id, claim)
            self._start(start, hand_over)
        if start is None:
            return None
        # If the turn ends without a prompt, don't wait for one.
        self._local[session_id].task.add_done_callback(lambda _: hand_over.text.cancel())
        await asyncio.wait({hand_over.text})
        return None if hand_over.text.cancelled() else hand_over.text.result()

    def mark_terminal_stopped(self, session_id: str) -> None:
        """Call this when the agent in the session's terminal has finished its turn."""
        if (local := self._local.get(session_id)) and local.hand_over is not None:
            local.hand_over.is_over = True

    async def ask_in_terminal(self, session_id: str, new: NewQuestion) -> Question:
        """Ask what the agent's own dialog is asking; return the question once it is closed.

        During a turn that Navi runs, the turn's policy and deadline apply. Otherwise a person is
        using the agent, so the question waits for them.
        """
        local = self._local.get(session_id)
        if local is not None and local.ask is not None and not local.is_finishing:
            return await local.ask(new)
        return await self.questions.ask_without_turn(session_id, new)

    async def _wait_for_last_turn(self, session_id: str) -> None:
        if local := self._local.get(session_id):
            with suppress(TimeoutError, asyncio.CancelledError):
                async with asyncio.timeout(TERMINAL_WAIT_SECONDS):
                    await asyncio.shield(local.task)

    async def admit(self, new: NewInput, sender: User, limits: Limits) -> Admission:
        """Store the input and, if possible, begin its session's next turn, in one transaction."""
        with self._holding_slots(new_id(), sender.id, [new.origin]) as claim:
            admission, start = await self._store.transact(turns.admit, new, sender, claim, limits)
            self._start(start)
        if not admission.delivered and admission.position == 0:
            # The slots were held for the sender, but the turn needs one for the session's user, who
            # may be somebody else.
            self.on_change()
        return admission

    @contextmanager
    def _holding_slots(
        self, turn_id: str, user_id: str, origins: Collection[Origin] = tuple(Origin)
    ) -> Iterator[turns.Claim]:
        """Hold slots for the user until the store has decided whether the turn begins."""
        now = self._clock.now()
        free_origins = self._slots.reserve(turn_id, user_id, origins)
        self._beginning.add(turn_id)
        try:
            lease_until = now + self._lease
            shared = {name for name, driver in self._drivers.items() if driver.shares_sessions}
            yield turns.Claim(
                turn_id,
                self._owner,
                lease_until,
                now,
                free_origins,
                user_id,
                self._zone,
                shared_drivers=shared,
                account_of=self._account_of,
                retry=self.retry,
                usual_day=self._guards.usual_day,
            )
        finally:
            self._beginning.discard(turn_id)
            self._stopped_early.discard(turn_id)
            if not self.is_ours(turn_id):
                self._slots.settle(turn_id, None)

    async def take_over(self, dead: RunningTurn) -> bool:
        """Continue a dead server's turn if its agent may still be running.

        False if such agents die with their server, or this server has no driver for them. Also True
        if another server was faster or no slot is free; in that case, nothing changes.
        """
        session = await self._store.transact(sessions.get, dead.session_id)
        driver = self._drivers.get(session.driver)
        if driver is None or not driver.outlives_server:
            return False
        with self._holding_slots(dead.id, session.user_id) as claim:
            start = await self._store.transact(turns.take_over, dead, claim)
            # The turn may run in a terminal, which already has the prompt and will report the end.
            hand_over = HandOver()
            hand_over.give("")
            self._start(start, hand_over, must_enter_driver=True)
        if dead.stop_reason is not None:
            self.interrupt(dead.id)
        return True

    def _account_of(self, session: Session) -> Account:
        driver = self._drivers.get(session.driver)
        return Account.of(session) if driver is None else driver.account_of(session)

    def interrupt(self, turn_id: str) -> None:
        """End the turn early, if this process runs it."""
        if turn_id in self._beginning:
            self._stopped_early.add(turn_id)
        for local in self._local.values():
            # Only once: a driver that is stopping its agent must not be cancelled again.
            if local.turn.id == turn_id and not local.should_stop:
                local.should_stop = True
                if local.driver_task is not None and not local.must_enter_driver:
                    local.driver_task.cancel()

    def abandon(self, turn_id: str) -> None:
        """Stop the turn at once and write nothing, because another process has taken it over."""
        for local in self._local.values():
            if local.turn.id == turn_id:
                log.warning("turn %s of session %s was taken over", turn_id, local.turn.session.id)
                local.task.cancel()

    async def wait_for_end(self, session_id: str) -> None:
        """Wait until this process runs no turn of the session."""
        if local := self._local.get(session_id):
            with suppress(asyncio.CancelledError):
                await asyncio.shield(local.task)

    async def shut_down(self) -> None:
        """Stop all turns as if this process had died. Agents that outlive it keep their turns."""
        self._is_shutting_down = True
        while self.count:
            for local in self._local.values():
                if local.driver_task is not None:
                    local.driver_task.cancel()
            # A turn that is just beginning will be in `_local` in a moment.
            await asyncio.wait([*self._tasks(), asyncio.create_task(asyncio.sleep(0.01))])

    def _tasks(self) -> list[asyncio.Task[None]]:
        return [local.task for local in self._local.values()]

    def _start(
        self,
        start: turns.TurnStart | None,
        hand_over: HandOver | None = None,
        *,
        must_enter_driver: bool = False,
    ) -> None:
        if start is None:
            return
        session_id = start.turn.session.id
        self._slots.settle(start.turn.id, start.turn.origin)
        if start.has_notified:
            self.on_change()
        if older := self._local.get(session_id):
            # This turn could begin only because another process took the older one over.
            self.abandon(older.turn.id)
        task = asyncio.create_task(self._run(start), name=f"turn {start.turn.id}")
        should_stop = start.turn.id in self._stopped_early
        local = _LocalTurn(
            start.turn,
            task,
            should_stop=should_stop,
            hand_over=hand_over,
            must_enter_driver=must_enter_driver,
            calls=RepeatedCalls(self._guards.repeated_calls, start.turn.input.metadata),
        )
        self._local[session_id] = local

        def forget(_task: asyncio.Task[None]) -> None:
            self._slots.settle(start.turn.id, None)
            if self._local.get(session_id) is local:
                del self._local[session_id]
            self.on_change()

        # Done here because a task that is cancelled early never reaches the end of `_run`.
        task.add_done_callback(forget)

    async def _run(self, start: turns.TurnStart) -> None:
        turn = start.turn
        local = self._local[turn.session.id]
        writer = EventWriter(self._store, self._clock, turn, start.stored_events)
        log.info("turn %s of session %s begins (%s)", turn.id, turn.session.id, turn.origin)
        try:
            ending = await self._drive_to_end(start, local, writer)
            if ending.outcome is Outcome.STOPPED and local.calls.has_loop:
                ending = _ended_by_loop(turn, local.calls)
            local.is_finishing = True
            if (
                self._is_shutting_down
                and ending.outcome is Outcome.STOPPED
                and not local.should_stop
            ):
                # If the agent outlives us, leave its turn to the next server.
                if not self._drivers[turn.session.driver].outlives_server:
                    await self._close_as_dead(turn)
            else:
                await writer.finish(ending, _with_cost(local.usage, turn.session))
                log.info("turn %s of session %s: %s", turn.id, turn.session.id, ending.outcome)
        except NothingToDo:
            await self._store.transact(turns.drop, self._running_turn(turn), self._clock.now())
        except NotDelivered as reason:
            log.warning("turn %s of session %s: %s", turn.id, turn.session.id, reason.message)
            await self._requeue(turn, reason)
        except FenceLost:
            log.warning("turn %s of session %s was taken over", turn.id, turn.session.id)
        except NaviError as error:
            # The store was unreachable for too long. When it is back, recovery closes the turn.
            log.error("turn %s of session %s: %s", turn.id, turn.session.id, error.message)

    async def _drive_to_end(
        self, start: turns.TurnStart, local: _LocalTurn, writer: EventWriter
    ) -> Ending:
        """Run the driver and the event writer side by side until the driver is done."""
        driver_task = asyncio.create_task(self._drive(start, local, writer))
        writer_task = asyncio.create_task(writer.run())
        local.driver_task = driver_task
        if (local.should_stop or self._is_shutting_down) and not local.must_enter_driver:
            driver_task.cancel()
        try:
            await asyncio.wait({driver_task, writer_task}, return_when=asyncio.FIRST_COMPLETED)
            writer.close()
            await asyncio.shield(writer_task)
            return await _ending_of(driver_task, self._clock)
        finally:
            # They are still running only if the writer failed or the turn was abandoned.
            for task in (driver_task, writer_task):
                task.cancel()
            await asyncio.gather(driver_task, writer_task, return_exceptions=True)

    async def _drive(self, start: turns.TurnStart, local: _LocalTurn, writer: EventWriter) -> None:
        session = start.turn.session
        driver = self._drivers[session.driver]
        conversation = None
        if driver.outlives_server:
            conversation = await self._store.transact(terminals.conversation, session)
        limit = TimeLimit(start.turn.input.metadata.get(TIME_LIMIT))
        request = await self._request(start, local, writer, conversation, limit)
        if start.turn.origin is Origin.AUTOMATION:
            policy = self.questions.policy_of(start.turn).snapshot
            await self._store.transact(automation_runs.record_policy, start.turn.input.id, policy)
        try:
            if local.must_enter_driver:
                local.must_enter_driver = False
                if local.should_stop and local.driver_task is not None:
                    asyncio.get_running_loop().call_soon(local.driver_task.cancel)
            async with limit.deadline, aclosing(driver.turn(request)) as events:
                async for event in events:
                    if isinstance(event, Usage):
                        local.usage = event
                    elif isinstance(event, Compacting | Asking | UsageWindow):
                        await self._record(start.turn, event)
                    elif isinstance(event, Conversation):
                        if conversation is None:
                            agent_id, now = event.agent_session_id, self._clock.now()
                            await self._store.transact(terminals.remember, session, agent_id, now)
                    else:
                        await writer.put(event)
                        if isinstance(event, ToolFinished) and local.calls.record(event):
                            self.interrupt(start.turn.id)
        except TimeoutError as error:
            if not limit.has_passed:
                raise
            raise AgentFailed(
                f"the turn took longer than {limit.seconds} s and was ended"
            ) from error

    async def _request(
        self,
        start: turns.TurnStart,
        local: _LocalTurn,
        writer: EventWriter,
        conversation: terminals.Conversation | None,
        limit: TimeLimit,
    ) -> TurnRequest:
        session, user = start.turn.session, start.user

        async def ask(new: NewQuestion) -> Question:
            with limit.paused():
                return await self.questions.ask(start.turn, new)

        local.ask = ask
        return TurnRequest(
            session=session,
            prompt=await self._prompt(start.turn),
            history=start.history,
            context=ToolContext(
                session_id=session.id,
                cwd=Path(session.cwd),
                current_user_id=user.id,
                current_user_role=user.role,
                current_user_info=user.info,
                origin=start.turn.origin,
                wait_until_stored=writer.wait_until_stored,
                nudges=partial(self._take_nudges, start.turn),
                ask=ask,
            ),
            turn_id=start.turn.id,
            started_at=start.turn.started_at,
            zone=self._zone,
            conversation=None if conversation is None else conversation.agent_session_id,
            usage_before=Usage() if conversation is None else conversation.usage,
            should_stop=lambda: local.should_stop or limit.has_passed,
            hand_over=local.hand_over,
            ask=ask,
            withdraw=self.questions.withdraw,
            settle=self.questions.settle,
            may_ask=self.questions.policy_of(start.turn).may_allow,
        )

    async def _record(self, turn: Turn, event: Compacting | Asking | UsageWindow) -> None:
        """Store an event about the agent itself, which is not part of the conversation."""
        now = self._clock.now()
        match event:
            case Compacting(begins):
                record = compactions.begin if begins else reminders.end_compaction
                await self._store.transact(record, turn.session.id, now)
            case Asking(is_asking):
                await self._store.transact(turns.set_asking, turn, is_asking, now)
            case UsageWindow():
                await self._store.transact(usage_limits.record_window, turn, event, now)

    async def _prompt(self, turn: Turn) -> str:
        """The turn's prompt. Those of built-in automations are not written until this point."""
        first = turn.input
        job = first.metadata.get("automation_id")
        has_prompt = first.prompt is not None or first.is_continuation
        if not has_prompt and job in (Kind.HEARTBEAT, Kind.DREAM):
            scheduled = await self._job_prompts.prompt(job, turn.started_at)
            if scheduled is None:
                raise NothingToDo
            first = await self._store.transact(automation_runs.record_prompt, first, scheduled)
        return prompt_of((first, *turn.joined))

    async def _take_nudges(self, turn: Turn, tool_call_id: str) -> Sequence[str]:
        """Deliver queued nudges to the agent of a running turn. Returns their texts."""
        now = self._clock.now()
        try:
            return await self._store.transact(
                steering.take, turn.session.id, new_id(), tool_call_id, now, fence=turn.fence
            )
        except NaviError as error:
            # The turn goes on: nudges can wait for its next tool call or its end.
            log.warning("can't deliver nudges to session %s: %s", turn.session.id, error.message)
            return ()

    async def _requeue(self, turn: Turn, reason: NotDelivered) -> None:
        """Requeue the turn's inputs: none of them reached the agent."""
        if isinstance(reason, OpenElsewhere):
            await self._store.transact(terminals.mark_open, turn.session, reason.agent_session_id)
        await self._close_as_dead(turn, reason.sentence)

    async def _close_as_dead(self, turn: Turn, reason: str = SERVER_STOPPED) -> None:
        await self._store.transact(
            turns.close_dead, self._running_turn(turn), self._clock.now(), reason
        )

    def _running_turn(self, turn: Turn) -> RunningTurn:
        now = self._clock.now()
        return RunningTurn(turn.id, turn.session.id, turn.fence, self._owner, now, None)


class NothingToDo(Exception):
    """One of Navi's own jobs has no work to do."""


def _ended_by_loop(turn: Turn, calls: RepeatedCalls) -> Ending:
    message = f"stopped: {calls.in_words()}"
    return Ending(Outcome.MAX_ITERATIONS, message, question=calls.question(turn.id))


def _with_cost(usage: Usage, session: Session) -> Usage:
    """The usage with its cost, if the model's price is known."""
    model = usage.model or session.model
    dollars = cost_of(
        model,
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_creation_tokens,
    )
    return replace(usage, model=model, dollars=dollars)


def limit_ending(limit: UsageLimit, now: datetime) -> Ending:
    """The end of a turn that met this usage limit at `now`."""
    resets_at, kind = limit.resets_at(now), limit.limit_kind
    return Ending(Outcome.LIMIT, limit.sentence, resets_at=resets_at, limit_kind=kind)


async def _ending_of(driver_task: asyncio.Task[None], clock: Clock) -> Ending:
    try:
        await driver_task
    except (asyncio.CancelledError, Interrupted):
        return Ending(Outcome.STOPPED)
    except (NotDelivered, NothingToDo):
        raise
    except IterationLimit as limit:
        return Ending(Outcome.MAX_ITERATIONS, limit.sentence)
    except PermissionRefused as refusal:
        return Ending(Outcome.DENIED, refusal.sentence)
    except UsageLimit as limit:
        return limit_ending(limit, clock.now())
    except NaviError as error:
        return Ending(Outcome.ERROR, error.sentence, traceback.format_exc())
    except Exception as error:
        log.exception("a driver failed")
        return Ending(Outcome.ERROR, f"{type(error).__name__}: {error}", traceback.format_exc())
    return Ending(Outcome.OK)
