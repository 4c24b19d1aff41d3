"""Which key a turn in a pane needs next. Decisions only; `PaneTurn` carries them out.

A key may get lost, or be read late by an agent that is short of CPU. So its effect is looked for in
the agent's own record, and a key is pressed again only while the record lacks that effect.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from navi.live.agents.terminal.transcript_tail import QUIET_SECONDS, Mood

INTERRUPT_SECONDS = 30.0
"""How long to try before the turn fails."""
SUBMIT_SECONDS = 60.0
"""How long a prompt may stand in the composer of an idle agent before the turn fails."""
RECORD_SECONDS = 300.0
"""How long it may be neither there nor in the record: Codex holds prompts back while the servers of
its tools start."""
ESCAPE_AGAIN_SECONDS = 3.0
"""Before the second Escape, and twice as long before each further one. Two Escapes that meet an
idle agent open a dialog, in which an Enter would rewind the conversation."""
KEY_AGAIN_SECONDS = 3.0
"""Before an Enter or Ctrl-C is repeated. Longer than the pause between a paste and its Enter."""


class Key(Enum):
    """Keys by their names in tmux."""

    ESCAPE = "Escape"
    ENTER = "Enter"
    CLEAR = "C-c"
    """Empties the composer. Two in a row would end the agent."""


class Verdict(Enum):
    WAIT = "wait"
    DONE = "done"
    GIVE_UP = "give up"


Decision = Key | Verdict


@dataclass(frozen=True, slots=True)
class Sight:
    """What the agent's files and its screen say of one turn."""

    mood: Mood
    has_begun: bool = False
    """The record has the prompt."""
    has_ended: bool = False
    is_prompt_in_composer: bool = False
    """It was not submitted, or it was put back: Claude Code does that when it is interrupted before
    it has said anything, and then records no interruption."""
    has_unread_keys: bool = False

    @property
    def is_at_work(self) -> bool:
        return self.mood in (Mood.BUSY, Mood.ASKING)


@dataclass(slots=True)
class Interruption:
    """Ends the agent's work on a turn, and leaves the composer empty for the next one."""

    started_at: float
    idle_since: float | None = None
    escapes_at: list[float] = field(default_factory=list)
    cleared_at: float | None = None

    def decide(self, sight: Sight, now: float) -> Decision:
        idle_seconds = self._idle_seconds(sight, now)
        is_over = sight.has_ended or (sight.has_begun and idle_seconds >= QUIET_SECONDS)
        is_withdrawn = self.cleared_at is not None and idle_seconds >= QUIET_SECONDS
        if (is_over or is_withdrawn) and not sight.is_prompt_in_composer:
            return Verdict.DONE
        if now - self.started_at >= INTERRUPT_SECONDS:
            return Verdict.GIVE_UP
        if sight.has_unread_keys:
            return Verdict.WAIT
        if sight.is_at_work and not is_over:
            return Key.ESCAPE if self._may_escape(now) else Verdict.WAIT
        # What was not submitted yet may be in a moment.
        is_settled = is_over or idle_seconds >= KEY_AGAIN_SECONDS
        if sight.mood is Mood.IDLE and sight.is_prompt_in_composer and is_settled:
            return Key.CLEAR if self._may_clear(now) else Verdict.WAIT
        return Verdict.WAIT

    def pressed(self, key: Key, now: float) -> None:
        if key is Key.ESCAPE:
            self.escapes_at.append(now)
        else:
            self.cleared_at = now

    def _idle_seconds(self, sight: Sight, now: float) -> float:
        if sight.mood is not Mood.IDLE:
            self.idle_since = None
            return 0.0
        if self.idle_since is None:
            self.idle_since = now
        return now - self.idle_since

    def _may_escape(self, now: float) -> bool:
        if not self.escapes_at:
            return True
        pause = ESCAPE_AGAIN_SECONDS * (1 << (len(self.escapes_at) - 1))
        return now - self.escapes_at[-1] >= pause

    def _may_clear(self, now: float) -> bool:
        return self.cleared_at is None or now - self.cleared_at >= KEY_AGAIN_SECONDS


@dataclass(slots=True)
class Submission:
    """Makes the agent take the prompt that was pasted into its composer."""

    pressed_at: float
    """The last Enter; at first the one that came with the paste."""
    idle_looks: int = 0

    def decide(self, sight: Sight, now: float, look_seconds: float) -> Decision:
        if sight.has_begun:
            return Verdict.DONE
        if sight.is_at_work:
            return Verdict.WAIT
        # Looks are counted, not seconds: a machine that stands still makes nobody late.
        self.idle_looks += 1
        patience = SUBMIT_SECONDS if sight.is_prompt_in_composer else RECORD_SECONDS
        if self.idle_looks * look_seconds >= patience:
            return Verdict.GIVE_UP
        is_due = now - self.pressed_at >= KEY_AGAIN_SECONDS and not sight.has_unread_keys
        return Key.ENTER if is_due and sight.is_prompt_in_composer else Verdict.WAIT

    def pressed(self, key: Key, now: float) -> None:
        self.pressed_at = now
