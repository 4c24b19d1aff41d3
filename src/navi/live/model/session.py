"""A conversation with one agent, and the states it moves through."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from navi.base.control_characters import one_line
from navi.base.errors import InvalidInput
from navi.base.ids import new_id
from navi.base.stored_text import require_line, require_printable
from navi.live.model.input import Origin
from navi.live.model.scheduling.recall import Recall

NAME_LIMIT = 200
"""Characters; the same for the name of a model and for a program."""
TASK_LIMIT = 2_000
STATUS_LIMIT = 1_000
"""A status is a line in an overview, not a report."""
TITLE_LENGTH = 80
"""Characters of a title that is made from a message."""
FIRST_LINE_SEARCH = 2_000
"""Characters of a message in which its first line is looked for: messages may have a megabyte."""


class SessionState(StrEnum):
    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting"
    """The agent's turn goes on, but it waits for a person, e.g. for a permission."""
    STOPPED = "stopped"


class Step(StrEnum):
    """What can happen to a session's machine."""

    TURN_BEGINS = "turn_begins"
    TURN_ENDS = "turn_ends"
    AGENT_ASKS = "agent_asks"
    AGENT_GOES_ON = "agent_goes_on"
    KILLED = "killed"


TRANSITIONS: dict[tuple[SessionState, Step], SessionState] = {
    (SessionState.IDLE, Step.TURN_BEGINS): SessionState.RUNNING,
    (SessionState.IDLE, Step.AGENT_ASKS): SessionState.WAITING,
    (SessionState.IDLE, Step.KILLED): SessionState.STOPPED,
    (SessionState.RUNNING, Step.TURN_ENDS): SessionState.IDLE,
    (SessionState.RUNNING, Step.AGENT_ASKS): SessionState.WAITING,
    (SessionState.RUNNING, Step.KILLED): SessionState.STOPPED,
    (SessionState.WAITING, Step.AGENT_GOES_ON): SessionState.RUNNING,
    (SessionState.WAITING, Step.TURN_ENDS): SessionState.IDLE,
    (SessionState.WAITING, Step.KILLED): SessionState.STOPPED,
    # The turn that was running when the session was killed still ends; the session stays ended.
    (SessionState.STOPPED, Step.TURN_ENDS): SessionState.STOPPED,
    (SessionState.STOPPED, Step.KILLED): SessionState.STOPPED,
}


def after(state: SessionState, step: Step) -> SessionState | None:
    """The state that follows, or None where the step is not possible."""
    return TRANSITIONS.get((state, step))


def step_between(state: SessionState, target: SessionState) -> Step | None:
    """The step that leads from one state to the other, or None where no single one does."""
    steps = (step for step in Step if after(state, step) is target)
    return None if state is target else next(steps, None)


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
    """Messages before this one are history that the agent no longer sees (see `clear`)."""
    created_at: datetime
    updated_at: datetime
    pending: Recall | None = None
    """The recall that wakes it next."""
    opening: str | None = None
    """The first line of the input that gives an unnamed session its title."""
    opening_origin: Origin | None = None
    program: str | None = None
    """What runs in its pane: an agent by name, or a command line. None for the usual agent."""

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
    ) -> Session:
        """An idle session in which nothing has happened yet."""
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
        )

    @property
    def title(self) -> str:
        """What people see: its name, else how its conversation began."""
        if self.is_unnamed and self.opening is not None:
            return self.opening
        shown = "" if self.name == generated_name(self.id) else one_line(self.name)
        return shown or f"New session {self.id[:4]}"

    @property
    def is_unnamed(self) -> bool:
        """Nobody chose its name: it ends as `generated_name` ends all names."""
        return self.name.endswith(f"-{self.id[:4]}")

    def opened_by(self, text: str, origin: Origin) -> Session:
        """With the title that this input gives it, if it does: a person's first, else the first."""
        is_settled = self.opening_origin is Origin.USER or (
            self.opening is not None and origin is not Origin.USER
        )
        if not self.is_unnamed or is_settled or origin is Origin.REMINDER:
            return self
        opening = first_line(text)
        if opening is None:
            return self
        return replace(self, opening=opening, opening_origin=origin)


def generated_name(session_id: str, beginning: str = "session") -> str:
    """The name of a session for which nobody chose one."""
    return f"{one_line(beginning)}-{session_id[:4]}"


def first_line(text: str) -> str | None:
    """The first line that says something, short enough for a title."""
    for line in text.strip()[:FIRST_LINE_SEARCH].splitlines():
        if shown := one_line(line):
            return shown if len(shown) <= TITLE_LENGTH else shown[: TITLE_LENGTH - 1].rstrip() + "…"
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
        raise InvalidInput("the status is blank", hint="say in a line what is being done")
    return require_printable("the status", status, STATUS_LIMIT)


def require_model(model: str) -> str:
    return require_line("the model", model, NAME_LIMIT)


def require_program(program: str) -> str:
    return require_line("the program", program, NAME_LIMIT)
