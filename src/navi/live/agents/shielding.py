"""Lets work finish although the task that awaits it is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


async def run_to_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Await the work, and raise any cancellation only after it has finished.

    A server that shuts down cancels its turns repeatedly until they end, so their clean-up needs
    this.
    """
    task = asyncio.create_task(work)
    is_cancelled = False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            is_cancelled = True
    result = task.result()
    if is_cancelled:
        raise asyncio.CancelledError
    return result
