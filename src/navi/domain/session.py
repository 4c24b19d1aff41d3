"""A conversation with one agent, and the states it moves through."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from navi.domain.recall import Recall


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
