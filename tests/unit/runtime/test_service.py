from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from navi.live.runtime.service import Service


class Worker(Service):
    """Takes its work from a list, and can be paused."""

    name = "worker"

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[str] = []
        self.done: list[str] = []
        self.may_work = asyncio.Event()
        self.may_work.set()

    def give(self, work: str) -> None:
        self.waiting.append(work)
        self._wake.set()

    async def step(self) -> None:
        await self._wake.wait(600)
        self._wake.clear()
        work, self.waiting = self.waiting, []
        await self.may_work.wait()
        self.done += work


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    worker = Worker()
    worker.start()
    yield worker
    await worker.stop()


async def test_a_service_is_at_rest_when_it_has_done_all_that_it_was_woken_for(
    worker: Worker,
) -> None:
    await worker.wait_until_idle()
    assert worker.done == []

    worker.give("one")
    worker.give("two")
    await worker.wait_until_idle()
    assert worker.done == ["one", "two"]


async def test_a_service_that_is_woken_at_work_is_not_at_rest_before_it_has_looked_again(
    worker: Worker,
) -> None:
    worker.may_work.clear()
    worker.give("one")
    resting = asyncio.create_task(worker.wait_until_idle())
    await asyncio.sleep(0)
    worker.give("two")
    worker.may_work.set()

    await resting
    assert worker.done == ["one", "two"]
