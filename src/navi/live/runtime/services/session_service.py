"""Creates, changes and ends sessions, within the caller's rights."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from navi.base.clock import Clock
from navi.base.errors import InvalidInput, NotAllowed, NotYours, SessionNotFound
from navi.base.stored_text import require_storable
from navi.live.agents.driver import Driver
from navi.live.model.access.quota import Limits
from navi.live.model.access.user import User
from navi.live.model.attention import is_listed
from navi.live.model.input import Input, require_text
from navi.live.model.message import Message
from navi.live.model.permission_policy import require_on_permission
from navi.live.model.question_deadline import require_question_deadline
from navi.live.model.scheduling.automation import HiddenSession, is_hidden
from navi.live.model.scheduling.reminder import CannotReport
from navi.live.model.session import (
    Session,
    require_model,
    require_program,
    require_session_name,
    require_task,
)
from navi.live.model.turn import StopReason
from navi.live.runtime import server_files
from navi.live.runtime.services.agent_catalogue import AgentCatalogue
from navi.live.runtime.turns.turn_runner import TurnRunner
from navi.live.store import input_queue, lanes, origins, sessions, snapshot, terminals, transcript
from navi.live.store.engine.transactions import Store
from navi.live.store.snapshot import Snapshot

STOP_TIMEOUT_SECONDS = 10.0
REMOTE_CHECK_SECONDS = 0.05
QUOTED_CHARACTERS = 200
"""How many characters of a path an error message repeats."""


class SessionService:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        turns: TurnRunner,
        drivers: Mapping[str, Driver],
        limits: Limits,
        agents: AgentCatalogue,
    ) -> None:
        self._store = store
        self._clock = clock
        self._turns = turns
        self._drivers = drivers
        self._limits = limits
        self.agents = agents

    async def create(
        self,
        user: User,
        *,
        name: str | None = None,
        driver: str | None = None,
        model: str | None = None,
        program: str | None = None,
        cwd: str | None = None,
        parent_id: str | None = None,
        on_permission: str | None = None,
        question_deadline_minutes: int | None = None,
    ) -> Session:
        driver = driver or self.agents.default_driver(model)
        if driver not in self._drivers:
            raise InvalidInput(
                f"unknown driver {driver!r}", hint=f"one of: {', '.join(sorted(self._drivers))}"
            )
        if program is None and self._runs_programs(driver):
            program, model = model, None  # earlier versions passed the program as the model
        if parent_id is not None:
            parent = await self.get(user, parent_id)
            on_permission = on_permission or parent.on_permission
            if question_deadline_minutes is None:
                question_deadline_minutes = parent.question_deadline_minutes
        session = Session.new(
            user.id,
            driver,
            _folder(cwd),
            self._clock.now(),
            name=None if name is None else require_session_name(name),
            model=None if model is None else self._require_model(driver, model),
            program=None if program is None else self._require_program(driver, program),
            parent_id=parent_id,
            on_permission=None if on_permission is None else require_on_permission(on_permission),
            question_deadline_minutes=require_question_deadline(question_deadline_minutes),
        )
        return await self._store.transact(sessions.create, session, self._limits.of(user).sessions)

    def _require_model(self, driver: str, model: str) -> str:
        self.agents.require_known_model(driver, require_model(model))
        return model

    def _runs_programs(self, driver: str) -> bool:
        return driver in self._drivers and self._drivers[driver].runs_programs

    def _require_program(self, driver: str, program: str) -> str:
        if not self._runs_programs(driver):
            capable = filter(self._runs_programs, self._drivers)
            raise InvalidInput(
                f"the driver {driver!r} can't run a program of your choice",
                hint=f"leave out program, or use the driver {' or '.join(capable)}",
            )
        return require_program(program)

    async def get(self, user: User, session_id: str) -> Session:
        session = await self._store.transact(sessions.get, session_id)
        if not user.may_touch(session.user_id):
            raise NotYours(session_id)
        return session

    async def get_not_hidden(self, user: User, session_id: str) -> Session:
        """The session. Refuses hidden ones, which take work only from their automation."""
        require_not_hidden(session_id)
        return await self.get(user, session_id)

    def require_reporter(self, session: Session) -> None:
        """Refuse to remind an agent that has no way to report."""
        driver = self._drivers.get(session.driver)
        if driver is not None and not driver.can_report(session):
            raise CannotReport(session.title)

    async def get_by_agent_id(self, user: User, agent_session_id: str) -> Session:
        """The user's own session whose agent uses this id.

        Even admins get only their own: anyone can be the first to report such an id.
        """
        session_id = await self._store.transact(terminals.session_id_of, agent_session_id)
        if session_id is None:
            raise SessionNotFound(agent_session_id)
        session = await self.get(user, session_id)
        if session.user_id != user.id:
            raise NotYours(session_id)
        return session

    async def list_sessions(
        self,
        user: User,
        parent_id: str | None = None,
        *,
        with_recall: bool = False,
        with_archived: bool = True,
    ) -> list[Session]:
        """The sessions the user may see; with `with_recall`, only those with a pending recall.

        Without `with_archived`, archived sessions are left out unless they need a person.
        """
        owner = None if user.is_admin else user.id
        listed = await self._store.transact(
            sessions.list_sessions, user_id=owner, parent_id=parent_id, with_recall=with_recall
        )
        return [each for each in listed if with_archived or is_listed(each)]

    async def change(
        self,
        user: User,
        session_id: str,
        changes: Mapping[str, Any],
        calling_session_id: str | None = None,
    ) -> Session:
        """Change the session. `calling_session_id` is set if an agent requests the change."""
        session = await self.get(user, session_id)
        if not changes:
            raise InvalidInput(
                "nothing to change",
                hint="give name, task, model, program, on_permission, question_deadline_minutes, "
                "unread, pinned or archived",
            )
        if "unread" in changes:
            if calling_session_id is not None:
                raise NotAllowed(
                    "an agent can't mark sessions as read or unread",
                    hint="leave out unread: it is about what a person has seen",
                )
            if not changes["unread"]:
                changes = {**changes, "notify_person": False}
        if "program" not in changes and self._runs_programs(session.driver):
            # As in `create`: earlier versions passed the program as the model.
            new_names = {"model": "program"}
            changes = {new_names.get(field, field): value for field, value in changes.items()}
        if changes.get("program") is not None:
            self._require_program(session.driver, changes["program"])
        if changes.get("model") is not None:
            self._require_model(session.driver, changes["model"])
        for field, check in _CHECKS.items():
            if changes.get(field) is not None:
                check(changes[field])
        return await self._store.transact(
            sessions.change, session_id, dict(changes), self._clock.now()
        )

    async def messages(
        self,
        user: User,
        session_id: str,
        after_idx: int,
        before_idx: int | None = None,
        limit: int | None = None,
    ) -> list[Message]:
        await self.get(user, session_id)
        return await self._store.transact(transcript.read, session_id, after_idx, before_idx, limit)

    async def snapshot(self, user: User, session_id: str, limit: int) -> Snapshot:
        """The session's current state, for a client that starts watching it."""
        await self.get(user, session_id)
        return await self._store.transact(snapshot.take, session_id, limit)

    async def queue(self, user: User, session_id: str) -> Sequence[Input]:
        await self.get(user, session_id)
        return await self._store.transact(input_queue.list_inputs, session_id)

    async def edit_input(
        self,
        user: User,
        session_id: str,
        input_id: str,
        changes: Mapping[str, Any],
        calling_session_id: str | None = None,
    ) -> Input:
        await self.get(user, session_id)
        if not changes:
            raise InvalidInput("nothing to change", hint="give text or delivery_mode")
        if "text" in changes:
            require_text(changes["text"])
        return await self._store.transact(
            input_queue.edit,
            session_id,
            input_id,
            dict(changes),
            self._clock.now(),
            calling_session_id,
        )

    async def remove_input(self, user: User, session_id: str, input_id: str) -> None:
        await self.get(user, session_id)
        await self._store.transact(origins.withdraw, session_id, input_id, self._clock.now())

    async def stop(self, user: User, session_id: str) -> bool:
        """End the running turn, on whichever server it runs. False if there is none."""
        await self.get(user, session_id)
        return await self._stop_turn(session_id, StopReason.PERSON)

    async def children(
        self, user: User, session_id: str, *, recursive: bool = False
    ) -> list[Session]:
        """The sessions this one started; with `recursive`, all its descendants."""
        await self.get(user, session_id)
        if not recursive:
            return await self.list_sessions(user, session_id)
        descendants = await self._store.transact(sessions.descendants, session_id)
        return [each for each in descendants if user.may_touch(each.user_id)]

    async def clear(
        self, user: User, session_id: str, requester_session_id: str | None = None
    ) -> Session:
        """Start a new context and end the running turn. The transcript stays complete."""
        await self._require_control(user, session_id, requester_session_id, "clear")
        if await self._store.transact(sessions.clear, session_id, self._clock.now()):
            await self._wait_for_turn_end(session_id)
        return await self.get(user, session_id)

    async def kill(
        self, user: User, session_id: str, requester_session_id: str | None = None
    ) -> Session:
        """End the session for good."""
        await self._require_control(user, session_id, requester_session_id, "kill")
        session = await self._store.transact(sessions.kill, session_id, self._clock.now())
        await self._end_agent(session)
        return session

    async def end_agents(self) -> None:
        """Close this machine's agents whose sessions another process has ended."""
        for driver in set(self._drivers.values()):
            if session_ids := await driver.open_sessions():
                for session in await self._store.transact(sessions.ended_among, session_ids):
                    await driver.end(session)

    async def remove(
        self,
        user: User,
        session_id: str,
        requester_session_id: str | None = None,
        *,
        with_automations: bool = False,
    ) -> None:
        """Delete the session and its content. Needs `with_automations` if it has automations."""
        await self._require_control(user, session_id, requester_session_id, "delete")
        session = await self._store.transact(
            sessions.kill_for_removal,
            session_id,
            self._clock.now(),
            with_automations=with_automations,
        )
        await self._end_agent(session)
        await self._store.transact(sessions.remove, session_id, self._clock.now())

    async def _end_agent(self, session: Session) -> None:
        await self._stop_turn(session.id, StopReason.KILLED)
        if driver := self._drivers.get(session.driver):
            await driver.end(session)

    async def _require_control(
        self, user: User, session_id: str, requester_session_id: str | None, verb: str
    ) -> None:
        """Refuse users who may not touch the session, and agents that did not start it.

        Hidden sessions can be cleared, but neither killed nor deleted.
        """
        session = await self.get(user, session_id)
        if verb != "clear":
            require_not_hidden(session_id)
        if requester_session_id is not None and session.parent_id != requester_session_id:
            raise NotAllowed(
                f"session {requester_session_id} may not {verb} session {session_id}: only its "
                "parent or a person may",
                hint="ask its parent, or the person who started it",
            )

    async def _stop_turn(self, session_id: str, reason: StopReason) -> bool:
        if not await self._store.transact(lanes.request_stop, session_id, reason):
            return False
        await self._wait_for_turn_end(session_id)
        return True

    async def _wait_for_turn_end(self, session_id: str) -> None:
        """After a stop request, wait for the turn to end, but not forever if it runs elsewhere."""
        await self._turns.wait_for_end(session_id)
        deadline = time.monotonic() + STOP_TIMEOUT_SECONDS
        while time.monotonic() < deadline:
            running = await self._store.transact(lanes.running, [session_id])
            if not any(turn.stop_reason is not None for turn in running):
                return
            await asyncio.sleep(REMOTE_CHECK_SECONDS)


def require_not_hidden(session_id: str) -> None:
    """Refuse a hidden session, which takes work only from its automation."""
    if is_hidden(session_id):
        raise HiddenSession(session_id)


_CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "name": require_session_name,
    "task": require_task,
    "program": require_program,
    "on_permission": require_on_permission,
    "question_deadline_minutes": require_question_deadline,
}


def _folder(cwd: str | None) -> str:
    no_folder = InvalidInput(
        f"there is no folder {(cwd or '')[:QUOTED_CHARACTERS]}",
        hint="use the absolute path of an existing folder",
    )
    try:
        folder = (
            Path(require_storable("cwd", cwd)).expanduser() if cwd else server_files.workspace()
        )
        is_folder = folder.is_absolute() and folder.is_dir()
    except (OSError, RuntimeError) as error:
        # The path is too long, or starts with the name of an unknown user, like `~nobody`.
        raise no_folder from error
    if not is_folder:
        raise no_folder
    return require_storable("cwd", str(folder.resolve()))
