"""The base class of all background loops: start, stop, back-off and logging."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import ClassVar

from navi.base.errors import NaviError

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 15.0

log = logging.getLogger("navi.service")


class Service(ABC):
    """Calls `step` in a loop, from `start` until `stop`.

    A failed step is logged and retried after a pause that grows with each failure in a row, because
    a loop that simply ended would fail silently.
    """

    name: ClassVar[str]

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._wake = Wake()

    @abstractmethod
    async def step(self) -> None:
        """Wait until there is something to do, and do it once."""

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name=self.name)

    def wake(self) -> None:
        """Run the next step now: there may be something to do earlier than expected."""
        self._wake.set()

    async def wait_until_idle(self) -> None:
        """For tests: wait until the service has nothing left to do."""
        await self._wake.wait_until_asleep()

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                await self.step()
                pause = FIRST_PAUSE_SECONDS
                continue
            except NaviError as error:
                log.warning("%s: %s", self.name, error.message)
            except Exception:
                log.exception("%s failed; trying again in %.1f s", self.name, pause)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


class Wake:
    """Lets a service sleep until `set` wakes it, or a time has passed. Stays set until `clear`."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._is_asleep = asyncio.Event()

    @property
    def is_set(self) -> bool:
        return self._event.is_set()

    def set(self) -> None:
        self._is_asleep.clear()
        self._event.set()

    def clear(self) -> None:
        self._event.clear()

    async def wait(self, seconds: float) -> None:
        if self._event.is_set():
            return
        self._is_asleep.set()
        try:
            # Not wait_for, which can swallow a cancellation that arrives with the wake-up.
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._event.wait()
        finally:
            self._is_asleep.clear()

    async def wait_until_asleep(self) -> None:
        """Wait until the service sleeps and nothing has woken it."""
        while not self._is_asleep.is_set():
            await self._is_asleep.wait()
