"""A tail serves all its watchers from memory, and reads the store once for all of them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

from navi.base.errors import StoreUnavailable
from navi.live.runtime import broadcast
from navi.live.runtime.broadcast import Frame, Tail


class Stream:
    """A stored stream that counts how often it is read."""

    def __init__(self, last: int = 0) -> None:
        self.last = last
        self.gone_before = 0
        self.reads = 0
        self.failures = 0

    async def read(self, after: int) -> list[Frame]:
        self.reads += 1
        if self.failures:
            self.failures -= 1
            raise StoreUnavailable("away")
        numbers = range(max(after + 1, self.gone_before), self.last + 1)
        await asyncio.sleep(0)
        return [frame(number) for number in numbers][:3]


def frame(number: int) -> Frame:
    return Frame(number, "local", "stream_delta", str(number))


async def follow(tail: Tail, after: int, until: int) -> list[int]:
    seen: list[int] = []
    async for frames in broadcast._follow(tail, after):
        seen += [each.number for each in frames]
        if seen[-1] >= until:
            return seen
    return seen


async def let_all_wait() -> None:
    """Let every task run until it waits. Nothing here does I/O, so a few rounds are enough."""
    for _ in range(10):
        await asyncio.sleep(0)


async def settle(*tasks: asyncio.Task[list[int]]) -> Sequence[list[int]]:
    async with asyncio.timeout(10):
        return await asyncio.gather(*tasks)


async def test_events_of_this_process_are_served_without_reading_the_store() -> None:
    stream = Stream(last=4)
    tail = Tail(stream.read)
    watchers = [asyncio.create_task(follow(tail, 4, until=9)) for _ in range(10)]
    await let_all_wait()
    first_reads = stream.reads

    for number in range(5, 10):
        stream.last = number
        tail.append(frame(number))

    assert await settle(*watchers) == [[5, 6, 7, 8, 9]] * 10
    assert stream.reads == first_reads


async def test_events_of_another_process_are_read_once_for_all_watchers() -> None:
    stream = Stream(last=4)
    tail = Tail(stream.read)
    tail.append(frame(4))
    watchers = [asyncio.create_task(follow(tail, 4, until=6)) for _ in range(10)]
    await let_all_wait()

    stream.last = 6
    tail.announce(6)

    assert await settle(*watchers) == [[5, 6]] * 10
    assert stream.reads <= 2


async def test_a_signal_during_a_read_is_not_forgotten() -> None:
    stream = Stream(last=5)
    tail = Tail(stream.read)
    tail.append(frame(4))
    watcher = asyncio.create_task(follow(tail, 4, until=7))
    tail.announce(5)
    await asyncio.sleep(0)

    stream.last = 7
    tail.announce(7)

    assert await settle(watcher) == [[5, 6, 7]]


async def test_a_read_that_fails_is_tried_again(monkeypatch) -> None:
    monkeypatch.setattr(broadcast, "TRY_AGAIN_SECONDS", 0)
    stream = Stream(last=5)
    tail = Tail(stream.read)
    tail.append(frame(4))
    watcher = asyncio.create_task(follow(tail, 4, until=5))
    stream.failures = 2

    tail.announce(5)

    assert await settle(watcher) == [[5]]


async def test_a_watcher_from_the_future_harms_nobody() -> None:
    stream = Stream(last=1)
    tail = Tail(stream.read)
    from_the_future = asyncio.create_task(follow(tail, 999, until=1000))
    other = asyncio.create_task(follow(tail, 1, until=2))
    await let_all_wait()

    stream.last = 2
    tail.append(frame(2))

    assert await settle(other) == [[2]]
    from_the_future.cancel()


async def test_the_last_event_of_a_deleted_session_arrives_alone() -> None:
    stream = Stream(last=3)
    tail = Tail(stream.read)
    for number in (1, 2, 3):
        tail.append(frame(number))
    watcher = asyncio.create_task(follow(tail, 3, until=9))
    await let_all_wait()

    stream.last = stream.gone_before = 9
    tail.announce(9)

    assert await settle(watcher) == [[9]]


async def test_every_watcher_sees_every_event_once_however_the_news_come() -> None:
    for seed in range(200):
        chance = random.Random(seed)
        stream = Stream()
        tail = Tail(stream.read)
        watchers = []
        while stream.last < 40:
            match chance.choice(["own", "other", "silent", "watch", "pause"]):
                case "own":
                    stream.last += 1
                    tail.append(frame(stream.last))
                case "other":
                    stream.last += chance.randint(1, 4)
                    tail.announce(stream.last)
                case "silent":
                    stream.last += 1
                case "watch":
                    start = chance.randint(0, stream.last)
                    task = asyncio.create_task(follow(tail, start, until=100))
                    watchers.append((start, task))
                case "pause":
                    await asyncio.sleep(0)
        stream.last = 100
        tail.check_store()
        for start, task in watchers:
            (seen,) = await settle(task)
            assert seen == list(range(start + 1, 101)), f"seed {seed}"
