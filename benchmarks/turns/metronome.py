"""`navi serve` with an extra driver, `metronome`, whose deltas contain the time they were made.

Everything else is the real server. The monotonic clock is the same in all processes of a machine.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from typing import Any

from navi.live.agents.driver import Driver, TurnRequest
from navi.live.model.event import TextDelta, TurnEvent, Usage
from navi.live.runtime import app


class Metronome(Driver):
    """For the prompt `RATE SECONDS`, sends RATE deltas a second, each with the time it was made."""

    async def turn(self, request: TurnRequest) -> AsyncGenerator[TurnEvent | Usage, None]:
        rate, seconds = (float(word) for word in request.prompt.split())
        begun_at = time.monotonic()
        for beat in range(round(rate * seconds)):
            await asyncio.sleep(max(0.0, begun_at + beat / rate - time.monotonic()))
            # The space keeps the times apart when neighbouring deltas are joined.
            yield TextDelta(f"{time.monotonic_ns()} ")


def main() -> None:
    from navi.cli.navi.main import main as navi

    original = app.default_drivers

    def drivers(*parts: Any) -> dict[str, Driver]:
        return {**original(*parts), "metronome": Metronome()}

    vars(app)["default_drivers"] = drivers
    navi()


if __name__ == "__main__":
    main()
