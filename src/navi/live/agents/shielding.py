"""Work that must reach its end even if the task that waits for it is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


async def run_to_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Await the work. Cancelled meanwhile, however often, it is finished first.

    A turn that is to stop is cancelled again and again until it has stopped, so what it does to
    stop needs this.
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
