"""How long a turn may take: a person's time is not the agent's."""

from __future__ import annotations

import asyncio

import pytest

from navi.live.runtime.turns.time_limit import TimeLimit

MOMENT = 0.05


async def after(moments: float) -> None:
    """Return after so many moments of the loop's clock."""
    done = asyncio.Event()
    asyncio.get_running_loop().call_later(moments * MOMENT, done.set)
    await done.wait()


async def test_a_wait_for_a_person_does_not_count() -> None:
    limit = TimeLimit(MOMENT)
    async with limit.deadline:
        with limit.paused():
            with limit.paused():
                await after(2)
            await after(2)
    assert not limit.has_passed


async def test_what_is_left_of_the_limit_counts_after_a_wait() -> None:
    limit = TimeLimit(MOMENT)

    async def work_for_ever() -> None:
        async with limit.deadline:
            with limit.paused():
                await after(1)
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await work_for_ever()
    assert limit.has_passed


async def test_without_a_limit_nothing_ends_a_turn() -> None:
    limit = TimeLimit(None)
    async with limit.deadline:
        with limit.paused():
            await after(1)
    assert not limit.has_passed
