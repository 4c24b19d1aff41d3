"""Submits a prompt that was pasted into a pane, and interrupts the agent if necessary."""

from __future__ import annotations

import asyncio
import logging

from navi.base.errors import AgentFailed
from navi.live.agents.terminal.keystrokes import (
    INTERRUPT_SECONDS,
    Interruption,
    Key,
    Observation,
    Submission,
    Verdict,
)
from navi.live.agents.terminal.pane_agent import PaneAgent
from navi.live.agents.terminal.tmux import Pane, Tmux, draft_in, has_unread_keys, shows_prompt
from navi.live.agents.terminal.transcript_tail import POLL_SECONDS, TranscriptTail

log = logging.getLogger("navi.panes")


class PaneTurn:
    """Presses the keys that one turn of an agent needs.

    `hint` says what a person can do if the agent does not react.
    """

    def __init__(
        self,
        agent: PaneAgent,
        tmux: Tmux,
        pane_name: str,
        tail: TranscriptTail,
        prompt: str,
        hint: str,
    ) -> None:
        self._agent = agent
        self._tmux = tmux
        self._pane_name = pane_name
        self._tail = tail
        self._prompt = prompt
        self._hint = hint
        self._submission = Submission(_now())

    async def submit(self) -> None:
        """Press the key that is needed, if any. Call this at every poll until the turn begins."""
        pane = await self._live_pane()
        if pane is None:
            raise AgentFailed(f"{self._agent.title} exited during this turn")
        observation = await self._observe(pane)
        decision = self._submission.decide(observation, _now(), POLL_SECONDS)
        if isinstance(decision, Key):
            if await self._press(pane, decision):
                self._submission.record_press(_now())
        elif decision is Verdict.GIVE_UP:
            if observation.is_prompt_in_composer:
                # Otherwise the next turn would mistake it for a draft that a person is typing.
                await self._press(pane, Key.CLEAR)
            raise AgentFailed(
                f"{self._agent.title} did not accept this turn's message",
                hint=self._hint,
            )

    async def interrupt(self) -> None:
        """Stop the agent's work on the turn. Raises `AgentFailed` if it doesn't stop."""
        interruption = Interruption(_now())
        while (verdict := await self._interrupt_once(interruption)) is not Verdict.DONE:
            if verdict is Verdict.GIVE_UP:
                raise AgentFailed(
                    f"{self._agent.title} could not be interrupted within "
                    f"{INTERRUPT_SECONDS:g} seconds and may still be working",
                    hint=self._hint,
                )
            await asyncio.sleep(POLL_SECONDS)

    async def _interrupt_once(self, interruption: Interruption) -> Verdict:
        try:
            pane = await self._live_pane()
            if pane is None:
                return Verdict.DONE
            await asyncio.to_thread(self._tail.catch_up)
            decision = interruption.decide(await self._observe(pane), _now())
            if isinstance(decision, Verdict):
                return decision
            if await self._press(pane, decision):
                interruption.record_press(decision, _now())
        except (AgentFailed, OSError) as error:
            # The agent may be fine, so try again.
            log.warning("can't read the pane of %s: %s", self._agent.title, error)
            if _now() - interruption.started_at >= INTERRUPT_SECONDS:
                return Verdict.GIVE_UP
        return Verdict.WAIT

    async def _live_pane(self) -> Pane | None:
        pane = await self._tmux.pane(self._pane_name)
        return None if pane is None or pane.is_dead else pane

    async def _observe(self, pane: Pane) -> Observation:
        draft = draft_in(await self._tmux.screen(pane), self._agent.composer_sign)
        return Observation(
            state=await asyncio.to_thread(self._agent.state, pane),
            has_begun=self._tail.reader.has_begun,
            has_ended=self._tail.reader.has_ended,
            is_prompt_in_composer=draft is not None and shows_prompt(draft, self._prompt),
            has_unread_keys=has_unread_keys(pane),
        )

    async def _press(self, pane: Pane, key: Key) -> bool:
        """Press the key. False if tmux failed; the next poll then decides again."""
        try:
            if pane.is_in_mode:
                await self._tmux.leave_mode(pane)
            await self._tmux.press(pane, key.value)
        except AgentFailed as failure:
            log.warning("can't press %s: %s", key.value, failure.message)
            return False
        return True


def _now() -> float:
    return asyncio.get_running_loop().time()
