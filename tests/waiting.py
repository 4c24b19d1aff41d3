"""Wait for things that send no event: files, processes, the screens of other programs."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any

PATIENCE_SECONDS = 90.0
"""How long something may take before a test gives up. Says nothing about speed."""
LOOK_SECONDS = 0.05


async def eventually(
    look: Callable[[], Any], what: str = "", *, patience: float = PATIENCE_SECONDS
) -> Any:
    """Call `look`, which may be async, until it returns something true; return that."""
    give_up_at = time.monotonic() + patience
    while True:
        answer = look()
        seen = await answer if inspect.isawaitable(answer) else answer
        if seen:
            return seen
        assert time.monotonic() < give_up_at, f"waited in vain: {what}"
        await asyncio.sleep(LOOK_SECONDS)
