from __future__ import annotations

import asyncio

import pytest

from navi.live.agents.shielding import run_to_end


async def test_work_reaches_its_end_however_often_it_is_cancelled() -> None:
    may_end = asyncio.Event()
    steps: list[str] = []

    async def work() -> None:
        steps.append("begun")
        await may_end.wait()
        steps.append("ended")

    waiting = asyncio.create_task(run_to_end(work()))
    for _ in range(3):
        await asyncio.sleep(0)
        waiting.cancel()
    may_end.set()

    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert steps == ["begun", "ended"]


async def test_the_failure_of_the_work_is_not_hidden_by_a_cancellation() -> None:
    may_fail = asyncio.Event()

    async def work() -> None:
        await may_fail.wait()
        raise ValueError("it did not work")

    waiting = asyncio.create_task(run_to_end(work()))
    await asyncio.sleep(0)
    waiting.cancel()
    may_fail.set()

    with pytest.raises(ValueError, match="did not work"):
        await waiting


async def test_the_result_is_passed_on() -> None:
    assert await run_to_end(asyncio.sleep(0, "result")) == "result"
