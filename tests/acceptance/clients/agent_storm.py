"""Messages to real agents, each telling its agent to write a number into a file."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.acceptance.flows.ledger import Sent
from tests.acceptance.flows.storm import Report, Storm, Workload

KINDS = (
    {"driver": "claude_code"},
    {"driver": "codex"},
    {"driver": "tmux", "program": "claude_code"},
    {"driver": "tmux", "model": "codex"},
)
"""Two agents without a terminal, and two in panes."""


@dataclass(slots=True)
class AgentMessages(Workload):
    """Send to each kind of agent in turn. In the end every number must be in the file once."""

    folder: Path
    messages: int = 200

    async def start(self, storm: Storm) -> Sequence[Coroutine[Any, Any, None]]:
        session_ids = [await storm.session(**kind, cwd=str(self.folder)) for kind in KINDS]
        return [self._send_all(storm, session_ids)]

    async def _send_all(self, storm: Storm, session_ids: Sequence[str]) -> None:
        for number in range(self.messages):
            session_id = session_ids[number % len(session_ids)]
            text = f"[[bash: echo {number} >>{self._file}]] [[say: {number}]]"
            await storm.send(Sent(f"{session_id}-{number}", session_id, text))
            await asyncio.sleep(storm.random.uniform(0, 0.3))

    @property
    def _file(self) -> Path:
        return self.folder / "log"

    def violations(self) -> list[str]:
        counts = Counter(self._file.read_text().split() if self._file.exists() else [])
        return [
            f"message {number} to {KINDS[number % len(KINDS)]} arrived {counts[str(number)]} times"
            for number in range(self.messages)
            if counts[str(number)] != 1
        ]

    def figures(self, report: Report) -> dict[str, int]:
        return {"messages": len(report.sent)}
