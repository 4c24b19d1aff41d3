"""A turn whose prompt was put into a pane: it is submitted, and interrupted if it has to be."""

from __future__ import annotations

import asyncio
import logging

from navi.base.errors import AgentFailed
from navi.live.agents.terminal.keystrokes import (
    INTERRUPT_SECONDS,
    Interruption,
    Key,
    Sight,
    Submission,
    Verdict,
)
from navi.live.agents.terminal.pane_agent import PaneAgent
from navi.live.agents.terminal.tmux import Pane, Tmux, draft_in, has_unread_keys, is_same_text
from navi.live.agents.terminal.transcript_tail import LOOK_SECONDS, Record

log = logging.getLogger("navi.panes")


class PaneTurn:
    """`name` is the pane's, `hint` what a person can do if the agent does not react."""

    def __init__(
        self, agent: PaneAgent, tmux: Tmux, name: str, record: Record, prompt: str, hint: str
    ) -> None:
        self._agent = agent
        self._tmux = tmux
        self._name = name
        self._record = record
        self._prompt = prompt
        self._hint = hint
        self._submission = Submission(_now())

    async def see_to_submission(self) -> None:
        """To be called at every look at an agent that is idle and has not begun the turn."""
        pane = await self._living_pane()
        if pane is None:
            raise AgentFailed(f"{self._agent.client} ended in its pane during this turn")
        sight = await self._sight(pane)
        decision = self._submission.decide(sight, _now(), LOOK_SECONDS)
        if isinstance(decision, Key):
            if await self._press(pane, decision):
                self._submission.pressed(decision, _now())
        elif decision is Verdict.GIVE_UP:
            if sight.is_prompt_in_composer:
                # Or the next prompt would wait for it as for a line that a person is typing.
                await self._press(pane, Key.CLEAR)
            raise AgentFailed(
                f"{self._agent.client} did not accept this turn's message",
                hint=self._hint,
            )

    async def interrupt(self) -> None:
        """Return as soon as the agent's record shows that it no longer works on the turn."""
        interruption = Interruption(_now())
        while (verdict := await self._interrupt_once(interruption)) is not Verdict.DONE:
            if verdict is Verdict.GIVE_UP:
                raise AgentFailed(
                    f"{self._agent.client} could not be interrupted within "
                    f"{INTERRUPT_SECONDS:g} seconds and may still be working",
                    hint=self._hint,
                )
            await asyncio.sleep(LOOK_SECONDS)

    async def _interrupt_once(self, interruption: Interruption) -> Verdict:
        try:
            pane = await self._living_pane()
            if pane is None:
                return Verdict.DONE
            await asyncio.to_thread(self._record.catch_up)
            decision = interruption.decide(await self._sight(pane), _now())
            if isinstance(decision, Verdict):
                return decision
            if await self._press(pane, decision):
                interruption.pressed(decision, _now())
        except (AgentFailed, OSError) as error:
            # A failed look says nothing about the agent: look again.
            log.warning("can't look at %s in its pane: %s", self._agent.client, error)
            if _now() - interruption.started_at >= INTERRUPT_SECONDS:
                return Verdict.GIVE_UP
        return Verdict.WAIT

    async def _living_pane(self) -> Pane | None:
        pane = await self._tmux.pane(self._name)
        return None if pane is None or pane.is_dead else pane

    async def _sight(self, pane: Pane) -> Sight:
        draft = draft_in(await self._tmux.screen(pane), self._agent.mark)
        return Sight(
            mood=await asyncio.to_thread(self._agent.mood, pane),
            has_begun=self._record.reader.has_begun,
            has_ended=self._record.reader.has_ended,
            is_prompt_in_composer=draft is not None and is_same_text(draft, self._prompt),
            has_unread_keys=has_unread_keys(pane),
        )

    async def _press(self, pane: Pane, key: Key) -> bool:
        """False if it could not be pressed: then the next look decides again."""
        try:
            if pane.is_in_mode:
                # A person scrolls there: the key would not reach the agent.
                await self._tmux.leave_mode(pane)
            await self._tmux.press(pane, key.value)
        except AgentFailed as failure:
            log.warning("can't press %s: %s", key.value, failure.message)
            return False
        return True


def _now() -> float:
    return asyncio.get_running_loop().time()
