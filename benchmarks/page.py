"""How fast the page is with a long session and during a fast stream.

    python -m benchmarks.page

Uses a real Chromium and a real server with the scripted model, and compares with an empty page.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from benchmarks.common import say_machine
from benchmarks.turns.figures import Row, Spread, spread_of, table
from tests.acceptance.browser.chromium import chromium
from tests.acceptance.browser.long_session import (
    MESSAGES,
    WATCH_KEYS,
    key_times_ms,
    make_long_session,
    opened_ms,
    stream_quickly,
)
from tests.acceptance.browser.tab import Tab
from tests.server import ServerProcess

ROUNDS = 20
OPEN_MS = 500
KEY_MS = 50
EMPTY = "<textarea aria-label=Message autofocus></textarea>"


async def measure(home: Path) -> list[Row]:
    settings = {"NAVI_MODEL": "scripted", "RECALL_DATA_DIR": str(home / "recall")}
    with ServerProcess(home / "server", settings=settings) as server:
        async with chromium(home) as browser, server.client() as client:
            long_session = await make_long_session(server)
            tab = await Tab.open(browser, server, "", 1280)
            await tab.page.locator(f'[data-session="{long_session}"]').wait_for()
            opened = spread_of([await opened_ms(tab, long_session) for _ in range(ROUNDS)])
            await stream_quickly(client, tab, await client.session(name="quick"))
            keys = spread_of(await key_times_ms(tab))
            # The same keys in a field with nothing around it.
            await tab.page.goto("about:blank")
            await tab.page.set_content(EMPTY)
            await tab.page.get_by_label("Message").focus()
            await tab.page.evaluate(WATCH_KEYS)
            bare = spread_of(await key_times_ms(tab))
    return [
        _row(f"a session of {MESSAGES:,} messages, until one can type", opened, OPEN_MS),
        _row(
            "a key, until it is drawn, while 100 deltas a second arrive",
            keys,
            KEY_MS,
            f"{keys.p50 / bare.p50:.1f} × an empty page ({bare.p50:.0f} ms)",
        ),
    ]


def _row(what: str, spread: Spread, most: int, beside: str = "") -> Row:
    return Row(
        what,
        "sqlite",
        spread=spread,
        goal=f"p50 < {most} ms",
        is_met=spread.p50 < most,
        beside=beside,
    )


def main() -> None:
    say_machine()
    with tempfile.TemporaryDirectory(prefix="navi-page-") as home:
        print(table(asyncio.run(measure(Path(home)))))


if __name__ == "__main__":
    main()
