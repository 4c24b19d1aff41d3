"""A lead sends numbered messages to its workers and asks for notice of each delivery and end.

One-off reminders are spread over the storm.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import httpx2

from tests.acceptance.flows.ledger import Sent
from tests.acceptance.flows.storm import Report, Storm, Workload


@dataclass(slots=True)
class Messages(Workload):
    messages: int = 200
    workers: int = 4
    drivers: Sequence[str] = ("scripted",)

    moments = ("input_queued", "input_delivered", "stream_start", "stream_end")

    async def start(self, storm: Storm) -> Sequence[Coroutine[Any, Any, None]]:
        lead = await storm.session()
        workers = [
            await storm.session(
                driver=self.drivers[number % len(self.drivers)],
                parent_id=lead,
                name=f"worker-{number}",
            )
            for number in range(self.workers)
        ]
        return [self._send_all(storm, lead, workers)]

    async def _send_all(self, storm: Storm, lead: str, workers: Sequence[str]) -> None:
        random = storm.random
        for number in range(self.messages):
            worker = random.choice(workers)
            pause = f"[[sleep: {random.uniform(0.0, 0.3):.2f}]]"
            message = Sent(
                f"message-{storm.seed}-{number}",
                worker,
                f"{number}: {pause} [[say: answer {number}]]",
                f"answer {number}",
                wants_notices=True,
            )
            await storm.send(
                message,
                sender_session_id=lead,
                delivery_mode=random.choice(["sequential", "sequential", "important"]),
                notify_on_delivery=True,
                notify_on_stop=True,
            )
            if number % 10 == 0:
                await self._remind(storm, worker, number)
            await asyncio.sleep(random.uniform(0.0, 0.2))

    async def _remind(self, storm: Storm, worker: str, number: int) -> None:
        body = {"session_id": worker, "delay_seconds": 0.5, "message": f"nudge {number}"}
        # No retry: after a lost answer there would be a reminder that the test does not know.
        with suppress(httpx2.TransportError):
            reminder = await storm.call_once("POST", "/scheduler/remind", body)
            storm.reminder_ids.append(reminder["reminder_id"])

    def figures(self, report: Report) -> dict[str, int]:
        inputs = report.ledger.inputs
        sharing = Counter(row.turn_id for row in inputs)
        message_ids = {each.input_id for each in report.sent}
        return {
            "messages": len(report.sent),
            "… that shared a turn": sum(
                row.id in message_ids and sharing[row.turn_id] > 1 for row in inputs
            ),
            "notices": sum("notice" in row.metadata for row in inputs),
            "reminders": len(report.reminder_ids),
        }
