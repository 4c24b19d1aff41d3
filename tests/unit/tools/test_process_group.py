from __future__ import annotations

import asyncio
import os
from pathlib import Path

from navi.tools.process_group import ProcessGroup


async def test_a_cancelled_task_can_still_wait_for_its_command(tmp_path: Path) -> None:
    """What is killed takes a moment to die: unless the call waits for it, a zombie stays."""
    group = ProcessGroup.start(["sleep", "1000"], tmp_path, os.environ)
    waits: list[bool] = []

    async def call() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            waits.append(await group.has_ended(0.01))

    task = asyncio.create_task(call())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    await group.end(grace_seconds=60)
    group.hang_up()

    assert task.cancelled()
    assert waits == [False]
