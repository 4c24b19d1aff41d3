"""A conversation with one agent, and the states it moves through."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from navi.base.control_characters import one_line
from navi.base.errors import InvalidInput
from navi.base.ids import new_id
from navi.base.shortened_text import shortened
from navi.base.stored_text import require_line, require_printable
from navi.live.model.input import Origin
from navi.live.model.permission_policy import OnPermission
from navi.live.model.scheduling.recall import Recall

if TYPE_CHECKING:
    from navi.live.model.turn import Outcome

NAME_LIMIT = 200
"""Characters in the name of a session, of a model or of a program."""
TASK_LIMIT = 2_000
STATUS_LIMIT = 1_000
"""Characters: a status is one line in an overview, not a report."""
TITLE_LENGTH = 80
"""Characters of a title taken from a message."""
NEVER_A_TITLE = frozenset({Origin.REMINDER, Origin.ANSWER})
FIRST_LINE_SEARCH = 2_000
"""Characters in which to look for a message's first line; messages can be a megabyte long."""


class SessionState(StrEnum):
    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting"
    """The agent is waiting for a person, e.g. for permission."""
    STOPPED = "stopped"


class Transition(StrEnum):
    """What can change a session's state."""

    TURN_BEGINS = "turn_begins"
    TURN_ENDS = "turn_ends"
    AGENT_ASKS = "agent_asks"
    AGENT_GOES_ON = "agent_goes_on"
    KILLED = "killed"


NEXT_STATE: dict[tuple[SessionState, Transition], SessionState] = {
    (SessionState.IDLE, Transition.TURN_BEGINS): SessionState.RUNNING,
    (SessionState.IDLE, Transition.AGENT_ASKS): SessionState.WAITING,
    (SessionState.IDLE, Transition.KILLED): SessionState.STOPPED,
    (SessionState.RUNNING, Transition.TURN_ENDS): SessionState.IDLE,
    (SessionState.RUNNING, Transition.AGENT_ASKS): SessionState.WAITING,
    (SessionState.RUNNING, Transition.KILLED): SessionState.STOPPED,
    (SessionState.WAITING, Transition.AGENT_GOES_ON): SessionState.RUNNING,
    (SessionState.WAITING, Transition.TURN_ENDS): SessionState.IDLE,
    (SessionState.WAITING, Transition.KILLED): SessionState.STOPPED,
    # A turn that was running when the session was killed still ends; the session stays stopped.
    (SessionState.STOPPED, Transition.TURN_ENDS): SessionState.STOPPED,
    (SessionState.STOPPED, Transition.KILLED): SessionState.STOPPED,
}


def state_after(state: SessionState, transition: Transition) -> SessionState | None:
    """The next state, or None if the transition is not possible."""
    return NEXT_STATE.get((state, transition))


def transition_between(state: SessionState, target: SessionState) -> Transition | None:
    """The transition from one state to the other, or None if no single one leads there."""
    if state is target:
        return None
    return next((move for move in Transition if state_after(state, move) is target), None)


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    name: str
    driver: str
    model: str | None
    cwd: str
    parent_id: str | None
    user_id: str
    state: SessionState
    task: str | None
    agent_status_text: str | None
    agent_status_at: datetime | None
    context_from_idx: int
    """The `idx` of the first message that the agent sees; `clear` moves it past the last one."""
    created_at: datetime
    updated_at: datetime
    pending: Recall | None = None
    """Its pending recall."""
    opening: str | None = None
    """The title of an unnamed session, taken from an input: see `with_opening`."""
    opening_origin: Origin | None = None
    program: str | None = None
    """What runs in its pane: an agent's name, or a command line. None for the default agent."""
    last_outcome: Outcome | None = None
    """How its last turn ended; None before that."""
    limit_until: datetime | None = None
    """When inputs that wait for a usage limit may continue; None if none waits for one."""
    unread: bool = False
    """Whether it has new output, or has failed, since a person last looked."""
    pinned: bool = False
    archived: bool = False
    notify_person: bool = False
    """Whether a person wants to be notified, although the session has a parent."""
    has_queue: bool = False
    """Whether inputs are waiting."""
    waiting_for: str | None = None
    """The id of its oldest open question."""
    on_permission: OnPermission | None = None
    """What happens when its agent needs permission; None for the setting."""
    question_deadline_minutes: int | None = None
    """How long its questions wait, 0 forever; None for the setting."""
    paused_by: str | None = None
    """The key of the used-up budget that its inputs wait for, if any are still queued."""
    pause_reason: str | None = None
    paused_until: datetime | None = None
    """When that pause ends; None if a person has to end it."""

    @classmethod
    def new(
        cls,
        user_id: str,
        driver: str,
        cwd: str,
        now: datetime,
        *,
        id: str | None = None,
        name: str | None = None,
        model: str | None = None,
        program: str | None = None,
        parent_id: str | None = None,
        on_permission: OnPermission | None = None,
        question_deadline_minutes: int | None = None,
    ) -> Session:
        """A new, idle session."""
        session_id = id or new_id()
        return cls(
            id=session_id,
            name=generated_name(session_id) if name is None else name,
            driver=driver,
            model=model,
            cwd=cwd,
            parent_id=parent_id,
            user_id=user_id,
            state=SessionState.IDLE,
            task=None,
            agent_status_text=None,
            agent_status_at=None,
            context_from_idx=0,
            created_at=now,
            updated_at=now,
            program=program,
            on_permission=on_permission,
            question_deadline_minutes=question_deadline_minutes,
        )

    @property
    def limited_until(self) -> datetime | None:
        """When its inputs may continue; None if none waits for a usage limit."""
        return self.limit_until if self.has_queue else None

    @property
    def is_paused(self) -> bool:
        """Whether its inputs wait for a used-up budget."""
        return self.paused_by is not None and self.has_queue

    def without_past_limit(self, now: datetime) -> Session:
        """The session without a `limit_until` that has passed."""
        is_past = self.limit_until is not None and self.limit_until <= now
        return replace(self, limit_until=None) if is_past else self

    @property
    def title(self) -> str:
        return title_of(self.id, self.name, self.opening)

    @property
    def is_unnamed(self) -> bool:
        return is_generated(self.name, self.id)

    def with_opening(self, text: str, origin: Origin) -> Session:
        """The session, titled after its first input, and later after the first from a person.

        Sessions with a name stay as they are; reminders and answers never give a title.
        """
        is_settled = self.opening_origin is Origin.USER or (
            self.opening is not None and origin is not Origin.USER
        )
        if not self.is_unnamed or is_settled or origin in NEVER_A_TITLE:
            return self
        opening = first_line(text)
        if opening is None:
            return self
        return replace(self, opening=opening, opening_origin=origin)


def generated_name(session_id: str, prefix: str = "session") -> str:
    """The name of a session that nobody has named."""
    return f"{one_line(prefix)}-{session_id[:4]}"


def is_generated(name: str, session_id: str) -> bool:
    """Whether nobody chose the name: it ends like every `generated_name`."""
    return name.endswith(f"-{session_id[:4]}")


def title_of(session_id: str, name: str, opening: str | None) -> str:
    """What people see: the name or, if nobody chose it, the opening."""
    if is_generated(name, session_id) and opening is not None:
        return opening
    chosen = "" if name == generated_name(session_id) else one_line(name)
    return chosen or f"New session {session_id[:4]}"


def first_line(text: str) -> str | None:
    """The first line that isn't blank, shortened to a title; None if there is none."""
    for line in text.strip()[:FIRST_LINE_SEARCH].splitlines():
        if title := one_line(line):
            return shortened(title, TITLE_LENGTH)
    return None


def require_session_name(name: str) -> str:
    if not name.strip():
        raise InvalidInput(
            "the name is blank", hint=f"use a few words, at most {NAME_LIMIT} characters"
        )
    return require_line("the name", name, NAME_LIMIT)


def require_task(task: str) -> str:
    return require_printable("the task", task, TASK_LIMIT)


def require_status(status: str) -> str:
    if not status.strip():
        raise InvalidInput("the status is blank", hint="say in one line what you are doing")
    return require_printable("the status", status, STATUS_LIMIT)


def require_model(model: str) -> str:
    return require_line("the model", model, NAME_LIMIT)


def require_program(program: str) -> str:
    return require_line("the program", program, NAME_LIMIT)
