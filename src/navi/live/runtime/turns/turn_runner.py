"""Station 3: one turn per session, driven to its end."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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
from navi.live.model.event import Asking, Compacting, Conversation, Usage
from navi.live.model.input import TIME_LIMIT, Admission, NewInput, Origin, prompt_of
from navi.live.model.scheduling.automation import Kind
from navi.live.model.scheduling.scheduled_prompt import ScheduledPrompt
from navi.live.model.session import Session
from navi.live.model.tool import ToolContext
from navi.live.model.turn import SERVER_STOPPED, Ending, Outcome, RunningTurn, Turn
from navi.live.runtime.turns.event_writer import EventWriter
from navi.live.runtime.turns.turn_slots import TurnSlots
from navi.live.store import input_queue, sessions, steering, terminals, turns
from navi.live.store.engine.transactions import Store
from navi.live.store.scheduling import automation_runs, compactions, reminders

TERMINAL_WAIT_SECONDS = 2.0
"""How long a hook waits for its session's last turn to be stored."""

log = logging.getLogger("navi.turns")


@dataclass(slots=True)
class _LocalTurn:
    """A turn that this process runs."""

    turn: Turn
    task: asyncio.Task[None]
    driving: asyncio.Task[None] | None = None
    usage: Usage = field(default_factory=Usage)
    should_stop: bool = False
    hand_over: HandOver | None = None
    must_enter_driver: bool = False
    """Don't cancel the driver before it starts: only it can stop the agent, which is running."""
    is_finishing: bool = False
    """Its end is being written, so the store may show it as ended before we do."""


class JobPrompts(Protocol):
    """Writes the prompts of Navi's own automations."""

    async def prompt(self, job: str, now: datetime) -> ScheduledPrompt | None:
        """The job's prompt; None if there is nothing to do."""


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
        job_prompts: JobPrompts,
        zone: tzinfo,
    ) -> None:
        self._store = store
        self._clock = clock
        self._owner = owner
        self._drivers = drivers
        self._lease = lease
        self._slots = slots
        self._job_prompts = job_prompts
        self._zone = zone
        self._beginning: set[str] = set()
        self._stopped_early: set[str] = set()
        """Turns with a stop request that came while their beginning was being written."""
        self._local: dict[str, _LocalTurn] = {}
        self._is_shutting_down = False
        self.on_change: Callable[[], None] = lambda: None
        """Called when a turn has ended, or has queued something in another session."""

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
        """Start the next turn of the user's session.

        False if nothing may be delivered, or a turn is running.
        """
        with self._beginning_turn(new_id(), user_id) as claim:
            begun = await self._store.transact(turns.begin, session_id, claim)
            self._start(begun)
            return begun is not None

    async def hand_over(self, session: Session) -> str | None:
        """Begin the session's next turn in the terminal that asks for it, and return its prompt.

        None if nothing is queued, or the terminal's last turn is not over yet.
        """
        session_id = session.id
        if not await self._store.transact(input_queue.waiting, session_id):
            return None
        await self._wait_for_terminal(session_id)
        hand_over = HandOver()
        with self._beginning_turn(new_id(), session.user_id) as claim:
            claim = replace(claim, is_hand_over=True)
            begun = await self._store.transact(turns.begin, session_id, claim)
            self._start(begun, hand_over)
        if begun is None:
            return None
        # Done when the prompt is there, or when the turn ended without one.
        self._local[session_id].task.add_done_callback(lambda _: hand_over.text.cancel())
        await asyncio.wait({hand_over.text})
        return None if hand_over.text.cancelled() else hand_over.text.result()

    def mark_terminal_stopped(self, session_id: str) -> None:
        """Call this when the agent in the session's terminal has finished its turn."""
        if (local := self._local.get(session_id)) and local.hand_over is not None:
            local.hand_over.is_over = True

    async def _wait_for_terminal(self, session_id: str) -> None:
        if local := self._local.get(session_id):
            with suppress(TimeoutError, asyncio.CancelledError):
                async with asyncio.timeout(TERMINAL_WAIT_SECONDS):
                    await asyncio.shield(local.task)

    async def admit(self, new: NewInput, sender: User, limits: Limits) -> Admission:
        """Make the input durable and start its session's next turn, in one transaction."""
        with self._beginning_turn(new_id(), sender.id, [new.origin]) as claim:
            admission, begun = await self._store.transact(turns.admit, new, sender, claim, limits)
            self._start(begun)
        if not admission.delivered and admission.position == 0:
            # The session may belong to another user, whose slots its turn needs.
            self.on_change()
        return admission

    @contextmanager
    def _beginning_turn(
        self, turn_id: str, user_id: str, origins: Collection[Origin] = tuple(Origin)
    ) -> Iterator[turns.Claim]:
        """Hold the user's slots until the store has decided whether the turn begins."""
        now = self._clock.now()
        free = self._slots.reserve(turn_id, user_id, origins)
        self._beginning.add(turn_id)
        try:
            until = now + self._lease
            shared = {name for name, driver in self._drivers.items() if driver.shares_sessions}
            yield turns.Claim(
                turn_id,
                self._owner,
                until,
                now,
                free,
                user_id,
                self._zone,
                shared_drivers=shared,
            )
        finally:
            self._beginning.discard(turn_id)
            self._stopped_early.discard(turn_id)
            if not self.is_ours(turn_id):
                self._slots.settle(turn_id, None)

    async def take_over(self, dead: RunningTurn) -> bool:
        """Continue a dead server's turn if its agent may still be running.

        False if agents of that kind die with their server.
        """
        session = await self._store.transact(sessions.get, dead.session_id)
        driver = self._drivers.get(session.driver)
        if driver is None or not driver.outlives_server:
            return False
        with self._beginning_turn(dead.id, session.user_id) as claim:
            begun = await self._store.transact(turns.take_over, dead, claim)
            # The turn may run in a terminal, which will report when it has stopped.
            hand_over = HandOver()
            hand_over.give("")
            self._start(begun, hand_over, must_enter_driver=True)
        if dead.stop_reason is not None:
            self.interrupt(dead.id)
        return True

    def interrupt(self, turn_id: str) -> None:
        """End the turn early, if this process runs it."""
        if turn_id in self._beginning:
            self._stopped_early.add(turn_id)
        for local in self._local.values():
            # Only once: a driver that is stopping its agent must not be cancelled again.
            if local.turn.id == turn_id and not local.should_stop:
                local.should_stop = True
                if local.driving is not None and not local.must_enter_driver:
                    local.driving.cancel()

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
        """Stop all turns of this process. Each is closed as if the process had died."""
        self._is_shutting_down = True
        while self.count:
            for local in self._local.values():
                if local.driving is not None:
                    local.driving.cancel()
            # A turn that is just beginning joins the local ones in a moment.
            await asyncio.wait([*self._tasks(), asyncio.create_task(asyncio.sleep(0.01))])

    def _tasks(self) -> list[asyncio.Task[None]]:
        return [local.task for local in self._local.values()]

    def _start(
        self,
        begun: turns.Begun | None,
        hand_over: HandOver | None = None,
        *,
        must_enter_driver: bool = False,
    ) -> None:
        if begun is None:
            return
        session_id = begun.turn.session.id
        self._slots.settle(begun.turn.id, begun.turn.origin)
        if begun.has_notified:
            self.on_change()
        if older := self._local.get(session_id):
            # This turn could begin only because another process took the older one over.
            self.abandon(older.turn.id)
        task = asyncio.create_task(self._run(begun), name=f"turn {begun.turn.id}")
        should_stop = begun.turn.id in self._stopped_early
        local = _LocalTurn(
            begun.turn,
            task,
            should_stop=should_stop,
            hand_over=hand_over,
            must_enter_driver=must_enter_driver,
        )
        self._local[session_id] = local

        def forget(_task: asyncio.Task[None]) -> None:
            self._slots.settle(begun.turn.id, None)
            # Not at the end of `_run`, which a task cancelled early never reaches.
            if self._local.get(session_id) is local:
                del self._local[session_id]
            self.on_change()

        task.add_done_callback(forget)

    async def _run(self, begun: turns.Begun) -> None:
        turn = begun.turn
        local = self._local[turn.session.id]
        writer = EventWriter(self._store, self._clock, turn, begun.stored_events)
        log.info("turn %s of session %s begins (%s)", turn.id, turn.session.id, turn.origin)
        try:
            ending = await self._drive_to_end(begun, local, writer)
            local.is_finishing = True
            if (
                self._is_shutting_down
                and ending.outcome is Outcome.STOPPED
                and not local.should_stop
            ):
                # The next server continues with an agent that outlives us.
                if not self._drivers[turn.session.driver].outlives_server:
                    await self._close_as_dead(turn)
            else:
                await writer.finish(ending, local.usage)
                log.info("turn %s of session %s: %s", turn.id, turn.session.id, ending.outcome)
        except NothingToDo:
            await self._store.transact(turns.drop, self._as_dead(turn), self._clock.now())
        except NotDelivered as reason:
            log.warning("turn %s of session %s: %s", turn.id, turn.session.id, reason.message)
            await self._requeue(turn, reason)
        except FenceLost:
            log.warning("turn %s of session %s was taken over", turn.id, turn.session.id)
        except NaviError as error:
            # The store was unreachable for too long. Recovery closes the turn when it is back.
            log.error("turn %s of session %s: %s", turn.id, turn.session.id, error.message)

    async def _drive_to_end(
        self, begun: turns.Begun, local: _LocalTurn, writer: EventWriter
    ) -> Ending:
        """Run the driver and the event writer side by side until the driver is done."""
        driving = asyncio.create_task(self._drive(begun, local, writer))
        writing = asyncio.create_task(writer.run())
        local.driving = driving
        if (local.should_stop or self._is_shutting_down) and not local.must_enter_driver:
            driving.cancel()
        try:
            await asyncio.wait({driving, writing}, return_when=asyncio.FIRST_COMPLETED)
            writer.close()
            await asyncio.shield(writing)
            return await _ending_of(driving, self._clock)
        finally:
            # Reached early only if the writer failed or this turn is abandoned.
            for task in (driving, writing):
                task.cancel()
            await asyncio.gather(driving, writing, return_exceptions=True)

    async def _drive(self, begun: turns.Begun, local: _LocalTurn, writer: EventWriter) -> None:
        session, user = begun.turn.session, begun.user
        driver = self._drivers[session.driver]
        conversation = None
        if driver.outlives_server:
            conversation = await self._store.transact(terminals.conversation, session)
        limit = begun.turn.input.metadata.get(TIME_LIMIT)
        deadline = asyncio.timeout(limit)
        request = TurnRequest(
            session=session,
            prompt=await self._prompt(begun.turn),
            history=begun.history,
            context=ToolContext(
                session_id=session.id,
                cwd=Path(session.cwd),
                current_user_id=user.id,
                current_user_role=user.role,
                current_user_info=user.info,
                origin=begun.turn.origin,
                on_record=writer.wait_until_stored,
                nudges=partial(self._nudges, begun.turn),
            ),
            turn_id=begun.turn.id,
            started_at=begun.turn.started_at,
            zone=self._zone,
            conversation=None if conversation is None else conversation.agent_session_id,
            usage_before=Usage() if conversation is None else conversation.spent,
            should_stop=lambda: local.should_stop or deadline.expired(),
            hand_over=local.hand_over,
        )
        try:
            if local.must_enter_driver:
                local.must_enter_driver = False
                if local.should_stop and local.driving is not None:
                    asyncio.get_running_loop().call_soon(local.driving.cancel)
            async with deadline, aclosing(driver.turn(request)) as events:
                async for event in events:
                    if isinstance(event, Usage):
                        local.usage = event
                    elif isinstance(event, Compacting):
                        began = event.is_compacting
                        record = compactions.begin if began else reminders.compaction_ended
                        await self._store.transact(record, session.id, self._clock.now())
                    elif isinstance(event, Asking):
                        is_asking, now = event.is_asking, self._clock.now()
                        await self._store.transact(turns.set_asking, begun.turn, is_asking, now)
                    elif isinstance(event, Conversation):
                        if conversation is None:
                            agent_id, now = event.agent_session_id, self._clock.now()
                            await self._store.transact(terminals.remember, session, agent_id, now)
                    else:
                        await writer.put(event)
        except TimeoutError as error:
            if not deadline.expired():
                raise
            raise AgentFailed(f"the turn took longer than {limit} seconds and was ended") from error

    async def _prompt(self, turn: Turn) -> str:
        """The turn's prompt. Those of Navi's own jobs are written only now."""
        first = turn.input
        job = first.metadata.get("automation_id")
        if first.prompt is None and job in (Kind.HEARTBEAT, Kind.DREAM):
            scheduled = await self._job_prompts.prompt(job, turn.started_at)
            if scheduled is None:
                raise NothingToDo
            first = await self._store.transact(automation_runs.record_prompt, first, scheduled)
        return prompt_of((first, *turn.joined))

    async def _nudges(self, turn: Turn, tool_call_id: str) -> Sequence[str]:
        """Queued inputs that the agent of a running turn should read now."""
        now = self._clock.now()
        try:
            return await self._store.transact(
                steering.take, turn.session.id, new_id(), tool_call_id, now, fence=turn.fence
            )
        except NaviError as error:
            # The turn matters more: nudges can wait for the next tool call or for its end.
            log.warning("no nudges for session %s: %s", turn.session.id, error.message)
            return ()

    async def _requeue(self, turn: Turn, reason: NotDelivered) -> None:
        """Requeue the turn's inputs: none of them reached the agent."""
        if isinstance(reason, OpenElsewhere):
            await self._store.transact(terminals.mark_open, turn.session, reason.name)
        await self._close_as_dead(turn, reason.sentence)

    async def _close_as_dead(self, turn: Turn, why: str = SERVER_STOPPED) -> None:
        await self._store.transact(turns.close_dead, self._as_dead(turn), self._clock.now(), why)

    def _as_dead(self, turn: Turn) -> RunningTurn:
        now = self._clock.now()
        return RunningTurn(turn.id, turn.session.id, turn.fence, self._owner, now, None)


class NothingToDo(Exception):
    """One of Navi's own jobs has no work to do."""


async def _ending_of(driving: asyncio.Task[None], clock: Clock) -> Ending:
    try:
        await driving
    except asyncio.CancelledError:
        return Ending(Outcome.STOPPED)
    except (NotDelivered, NothingToDo):
        raise
    except IterationLimit as limit:
        return Ending(Outcome.MAX_ITERATIONS, limit.sentence)
    except PermissionRefused as refusal:
        return Ending(Outcome.DENIED, refusal.sentence)
    except UsageLimit as limit:
        resets_at = limit.resets_at(clock.now())
        return Ending(Outcome.LIMIT, limit.sentence, resets_at=resets_at)
    except NaviError as error:
        return Ending(Outcome.ERROR, error.sentence, traceback.format_exc())
    except Exception as error:
        log.exception("a driver failed")
        return Ending(Outcome.ERROR, f"{type(error).__name__}: {error}", traceback.format_exc())
    return Ending(Outcome.OK)
