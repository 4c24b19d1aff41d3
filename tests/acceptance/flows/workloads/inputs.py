"""People send numbered inputs to many sessions."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.acceptance.flows.ledger import Sent
from tests.acceptance.flows.storm import Report, Storm, Workload, script

MOST_WAITING = 5
"""A sender this far ahead only repeats itself, so that a storm ends soon after its last kill."""


@dataclass(slots=True)
class Inputs(Workload):
    sessions: int = 20
    pause_seconds: tuple[float, float] = (0.1, 1.5)
    """The shortest and the longest time between two inputs of one session."""

    moments = ("input_queued", "stream_start", "stream_delta", "tool_started", "stream_end")

    async def start(self, storm: Storm) -> Sequence[Coroutine[Any, Any, None]]:
        return [
            self._send(storm, await storm.session(), Random(f"{storm.seed} {place}"))
            for place in range(self.sessions)
        ]

    async def _send(self, storm: Storm, session_id: str, random: Random) -> None:
        number = 0
        while not storm.is_over.is_set():
            number += 1
            text, answer = script(random, number)
            message = Sent(f"{session_id}-{number}", session_id, text, answer)
            accepted = await storm.send(message)
            await storm.pause(random.uniform(*self.pause_seconds))
            while accepted["position"] >= MOST_WAITING and not storm.is_over.is_set():
                body = {"text": text, "input_id": message.input_id}
                accepted = await storm.call("POST", f"/sessions/{session_id}/input", body)
                await storm.pause(random.uniform(*self.pause_seconds))

    def figures(self, report: Report) -> dict[str, int]:
        return {
            "inputs confirmed": sum(each.is_confirmed for each in report.sent),
            "frames the watcher saw": len(report.frames),
        }
