"""Decides which key a turn in a pane needs next; `PaneTurn` presses it.

A key may get lost, so it is pressed again until the agent's own transcript shows its effect. A busy
agent may read a key late, so there is a pause before each further press. The composer is the field
on the agent's screen in which prompts are typed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from navi.live.agents.terminal.transcript_tail import QUIET_SECONDS, AgentState

INTERRUPT_SECONDS = 30.0
"""How long to try to interrupt an agent before giving up."""
SUBMIT_SECONDS = 60.0
"""How long a prompt may stay in the composer of an idle agent before the turn fails."""
ARRIVAL_SECONDS = 300.0
"""How long a prompt may be neither in the composer nor in the transcript before the turn fails.
Codex holds prompts back while its MCP servers start."""
ESCAPE_PAUSE_SECONDS = 3.0
"""The pause before the second Escape, doubled before each further one. Two Escapes make an idle
agent open a dialog in which an Enter would rewind the conversation."""
KEY_PAUSE_SECONDS = 3.0
"""The pause before another Enter or Ctrl-C. Longer than the pause between a paste and its Enter."""


class Key(Enum):
    """Keys, by tmux's names."""

    ESCAPE = "Escape"
    ENTER = "Enter"
    CLEAR = "C-c"
    """Empties the composer. Pressed twice in a row, it ends the agent."""


class Verdict(Enum):
    WAIT = "wait"
    DONE = "done"
    GIVE_UP = "give up"


Decision = Key | Verdict


@dataclass(frozen=True, slots=True)
class Observation:
    """What the agent's files and its screen show about a turn."""

    state: AgentState
    has_begun: bool = False
    """The transcript has the prompt."""
    has_ended: bool = False
    is_prompt_in_composer: bool = False
    """The prompt is not submitted yet, or was put back. Claude Code puts it back, and records no
    interruption, if it is interrupted before it has answered anything."""
    has_unread_keys: bool = False

    @property
    def is_at_work(self) -> bool:
        return self.state in (AgentState.BUSY, AgentState.ASKING)


@dataclass(slots=True)
class Interruption:
    """Decides how to stop the agent's work on a turn and empty the composer for the next turn."""

    started_at: float
    idle_since: float | None = None
    escapes_at: list[float] = field(default_factory=list)
    cleared_at: float | None = None

    def decide(self, observation: Observation, now: float) -> Decision:
        idle_seconds = self._update_idle_seconds(observation, now)
        is_over = observation.has_ended or (observation.has_begun and idle_seconds >= QUIET_SECONDS)
        is_withdrawn = self.cleared_at is not None and idle_seconds >= QUIET_SECONDS
        if (is_over or is_withdrawn) and not observation.is_prompt_in_composer:
            return Verdict.DONE
        if now - self.started_at >= INTERRUPT_SECONDS:
            return Verdict.GIVE_UP
        if observation.has_unread_keys:
            return Verdict.WAIT
        if observation.is_at_work and not is_over:
            return Key.ESCAPE if self._may_escape(now) else Verdict.WAIT
        # Don't clear a prompt at once: its Enter may still be on the way.
        is_settled = is_over or idle_seconds >= KEY_PAUSE_SECONDS
        if (
            observation.state is AgentState.IDLE
            and observation.is_prompt_in_composer
            and is_settled
        ):
            return Key.CLEAR if self._may_clear(now) else Verdict.WAIT
        return Verdict.WAIT

    def record_press(self, key: Key, now: float) -> None:
        if key is Key.ESCAPE:
            self.escapes_at.append(now)
        else:
            self.cleared_at = now

    def _update_idle_seconds(self, observation: Observation, now: float) -> float:
        if observation.state is not AgentState.IDLE:
            self.idle_since = None
            return 0.0
        if self.idle_since is None:
            self.idle_since = now
        return now - self.idle_since

    def _may_escape(self, now: float) -> bool:
        if not self.escapes_at:
            return True
        pause = ESCAPE_PAUSE_SECONDS * (1 << (len(self.escapes_at) - 1))
        return now - self.escapes_at[-1] >= pause

    def _may_clear(self, now: float) -> bool:
        return self.cleared_at is None or now - self.cleared_at >= KEY_PAUSE_SECONDS


@dataclass(slots=True)
class Submission:
    """Decides how to get the agent to accept the prompt that was pasted into its composer."""

    pressed_at: float
    """When Enter was last pressed; the first press came with the paste."""
    idle_polls: int = 0

    def decide(self, observation: Observation, now: float, poll_seconds: float) -> Decision:
        if observation.has_begun:
            return Verdict.DONE
        if observation.is_at_work:
            return Verdict.WAIT
        # Count polls, not seconds, so that the turn doesn't fail after the machine was suspended.
        self.idle_polls += 1
        limit = SUBMIT_SECONDS if observation.is_prompt_in_composer else ARRIVAL_SECONDS
        if self.idle_polls * poll_seconds >= limit:
            return Verdict.GIVE_UP
        is_due = now - self.pressed_at >= KEY_PAUSE_SECONDS and not observation.has_unread_keys
        return Key.ENTER if is_due and observation.is_prompt_in_composer else Verdict.WAIT

    def record_press(self, now: float) -> None:
        self.pressed_at = now
