"""Sessions schedule recalls all the time, while people talk to them.

Some schedule single recalls, some let one beat every second, and some play chains: the turn of a
recall schedules the next one.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, ClassVar

import httpx2

from tests.acceptance.flows.ledger import ScheduledRecall
from tests.acceptance.flows.storm import LOOK_SECONDS, Report, Storm, Workload, script

KINDS = ("once", "recurring", "chained")
LINKS = 3


@dataclass(slots=True)
class Recalls(Workload):
    sessions: int = 12

    # Old recalls must be kept, or confirmed ones could not be checked.
    settings: ClassVar = {"NAVI_RECALLS_KEEP_FINISHED": "1000000"}
    moments = ("input_queued", "recall_update", "stream_start", "stream_delta", "tool_call")

    async def start(self, storm: Storm) -> Sequence[Coroutine[Any, Any, None]]:
        work = []
        for number in range(max(self.sessions, len(KINDS))):
            session_id = await storm.session()
            random = Random(f"{storm.seed} {number}")
            work.append(self._schedule(storm, KINDS[number % len(KINDS)], session_id, random))
            work.append(storm.talk(session_id, random, (0.5, 5.0)))
        return work

    async def _schedule(self, storm: Storm, kind: str, session_id: str, random: Random) -> None:
        number = 0
        while not storm.is_over.is_set():
            number += 1
            if kind == "recurring":
                await self._let_beat(storm, session_id, number, random)
                continue
            texts = _chain(number, LINKS if kind == "chained" else 1, random)
            call_type = random.choice(("once", "once", "immediate"))
            when = {"when": "1s"} if call_type == "once" else {}
            await self._accept(storm, session_id, texts, {"call_type": call_type, **when})
            await self._until_idle(storm, session_id)

    async def _let_beat(self, storm: Storm, session_id: str, number: int, random: Random) -> None:
        """A recall every second, cancelled after a while, waiting or running."""
        text, _ = script(random, number)
        beat = {"call_type": "recurring", "when": "1s", "interval_seconds": 1}
        await self._accept(storm, session_id, [text], beat)
        await storm.pause(random.uniform(2.0, 12.0))
        await storm.call("DELETE", f"/sessions/{session_id}/recall")
        await self._until_idle(storm, session_id)

    async def _accept(
        self, storm: Storm, session_id: str, texts: Sequence[str], body: dict[str, Any]
    ) -> None:
        """Schedule the first; its text holds the others. Retry only if no server has it."""
        path = f"/sessions/{session_id}/recall"
        place = len(storm.scheduled)
        for text, following in zip(texts, [*texts[1:], None], strict=True):
            storm.scheduled.append(ScheduledRecall(session_id, text, following, is_confirmed=False))
        while True:
            try:
                await storm.call_once(
                    "POST", path, {**body, "additional_context_message": texts[0]}
                )
                break
            except httpx2.TransportError:
                storm.resent += 1
                stored = await storm.call("GET", f"/sessions/{session_id}/recalls")
                if texts[0] in [each["additional_context_message"] for each in stored]:
                    break
        storm.scheduled[place] = replace(storm.scheduled[place], is_confirmed=True)

    async def _until_idle(self, storm: Storm, session_id: str) -> None:
        """Even at the end, every scheduled recall has to fire."""
        while True:
            recalls = await storm.call("GET", f"/sessions/{session_id}/recalls")
            if not any(each["status"] in ("pending", "running") for each in recalls):
                return
            await asyncio.sleep(4 * LOOK_SECONDS)

    def figures(self, report: Report) -> dict[str, int]:
        recalls = report.ledger.recalls
        statuses = Counter(recall.status for recall in recalls)
        return {
            "recalls": len(recalls),
            "… fired": statuses["fired"],
            "… cancelled": statuses["cancelled"],
            "beats run": len(report.ledger.beats),
            "beats missed": sum(recall.missed_count for recall in recalls),
            "messages of people": len(report.sent),
        }


def _chain(number: int, links: int, random: Random) -> list[str]:
    """Recalls each of which schedules the next one in its own turn; their texts are nested."""
    texts = [script(random, number)[0]]
    for link in range(links - 1, 0, -1):
        following = {
            **random.choice(({"call_type": "once", "when": "1s"}, {"call_type": "immediate"})),
            "additional_context_message": texts[0],
        }
        call = f"[[tool: schedule_recall | {json.dumps(following)}]]"
        texts.insert(0, f"{number}.{link}: {call} [[say: link {number}.{link}]]")
    return texts
