from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from navi.base.platform import CAN_READ_ALL_ENVIRONMENTS
from navi.live.tools.processes import process_group
from navi.live.tools.processes.process_group import ProcessGroup
from tests.waiting import eventually


async def test_a_cancelled_task_can_still_wait_for_its_command(tmp_path: Path) -> None:
    """A killed process takes a moment to die: unless the call waits, a zombie is left."""
    group = ProcessGroup.start(["sleep", "1000"], tmp_path, os.environ)
    waits: list[bool] = []

    async def call() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            waits.append(await group.wait_for_end(0.01))

    task = asyncio.create_task(call())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    await group.end(grace_seconds=60)
    group.stop_listening()

    assert task.cancelled()
    assert waits == [False]


@pytest.mark.skipif(not CAN_READ_ALL_ENVIRONMENTS, reason="environments are hidden here")
async def test_a_process_that_could_not_be_ended_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if stuck in the kernel: no time is left to kill processes outside the group.
    monkeypatch.setattr(process_group, "REAP_SECONDS", -1)
    script = "trap '' TERM; echo $$ >pid.new; mv pid.new pid; while :; do sleep 1; done"
    command = ["sh", "-c", '(setsid sh -c "$1" &); sleep 1000', "sh", script]
    group = ProcessGroup.start(command, tmp_path, os.environ)
    try:
        await eventually((tmp_path / "pid").exists, "the process has begun")
        number = int((tmp_path / "pid").read_text())
        left = await group.end(grace_seconds=0)
        assert (number, "sh") in {(process.pid, process.name) for process in left}
    finally:
        monkeypatch.undo()
        left = await group.end(grace_seconds=0)
        group.stop_listening()
    assert left == set()
