"""Take the screenshots in docs/images: a real server and browser, and an invented week of work.

`make screenshots` runs this in a temporary home; none of your own files are read. With a folder as
argument, it takes every view at three widths, light and dark, into that folder instead.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page
from sqlalchemy import Connection, insert, update

from navi.live.store.engine.tables import lanes, messages
from navi.live.store.engine.transactions import Store
from tests.acceptance.browser.chromium import chromium
from tests.acceptance.browser.tab import Tab
from tests.acceptance.browser.views import views
from tests.server import Client, ServerProcess

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SIZE = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 800}
WIDTHS = {390: 800, 1024: 768, 1280: 800}
SEARCH = "token clock"
NOW = datetime.now(UTC)

ANSWER = """\
The build failed in **one** place: `tests/test_orders.py` expects a naive date, and `parse_day`
returns an aware one since yesterday's change.

```python
def parse_day(text: str) -> date:
    return datetime.fromisoformat(text).astimezone(UTC).date()
```

| step | before | now |
|---|---|---|
| unit | 812 passed | 811 passed, 1 failed |
| deploy | ok | not started |

I fixed the test, not the function: the zone was missing there. I'll look again in 30 minutes.
"""
LOG = "FAILED tests/test_orders.py::test_a_day_is_read\n1 failed, 811 passed in 41.2s"
CALLS = [
    ("terminal", {"command": "tail -40 build.log"}, LOG),
    ("filesystem", {"action": "read", "path": "tests/test_orders.py"}, "import shop"),
]

Message = tuple[str, str, dict[str, Any]]
STORY: list[Message] = [
    ("user", "Watch the nightly build. If it breaks, find out why and tell me here.", {}),
    ("assistant", "I will look at the log now, and again every half hour while it runs.", {}),
    ("user", "Read build.log and report new errors.", {"source": "recall"}),
    (
        "assistant",
        "",
        {
            "thinking": "The log is long. The failures are at its end, so I read that first.",
            "tool_calls": [
                {
                    "id": name,
                    "name": name,
                    "arguments": arguments,
                    "result": result,
                    "is_error": False,
                }
                for name, arguments, result in CALLS
            ],
        },
    ),
    ("assistant", ANSWER, {}),
    ("user", "Good. Does the old import path still work?", {}),
    ("assistant", "Yes: `shop.orders` re-exports it, and a warning says where it went.", {}),
]  # fmt: skip


async def main(every_view: Path | None) -> None:
    home = Path(tempfile.mkdtemp(prefix="navi-pictures-"))
    try:
        _write_agent_files(home)
        settings = {
            "NAVI_MODEL": "scripted",
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_CONFIG_HOME": str(home / "config"),
        }
        with ServerProcess(home, settings=settings) as server:
            async with server.client() as client:
                ids = await _sessions(client, home)
                await _insert_story(server, ids["nightly build"])
                await _schedule(client, ids)
            await asyncio.to_thread(_index, server)
            async with chromium(home) as browser:
                for scheme in ("light", "dark"):
                    if every_view is None:
                        await _take(browser, server, ids, scheme)
                    else:
                        await _take_every_view(browser, server, ids, scheme, every_view)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _index(server: ServerProcess) -> None:
    command = [sys.executable, "-m", "navi.cli.recall.main", "index"]
    subprocess.run(command, env=server.environment, check=True, capture_output=True)


async def _sessions(client: Client, home: Path) -> dict[str, str]:
    (home / "shop").mkdir()
    ids = {}
    for name in ("weekly report", "docs", "release notes", "nightly build"):
        ids[name] = await client.session(name=name, cwd=str(home / "shop"))
    ids["log reader"] = await client.session(name="log reader", parent_id=ids["nightly build"])
    await client.say(ids["log reader"], "[[say: Reading.]] [[sleep: 3000]]")
    await client.say(ids["docs"], "[[say: Done.]]")
    return ids


async def _schedule(client: Client, ids: dict[str, str]) -> None:
    recall = {
        "call_type": "recurring",
        "when": "28m",
        "interval_seconds": 1800,
        "additional_context_message": "Read build.log and report new errors.",
        "internal_comment": "while the nightly build runs",
    }
    await client.call("POST", f"/sessions/{ids['nightly build']}/recall", recall, expect=201)
    once = {**recall, "call_type": "once", "when": "tomorrow at 9", "interval_seconds": None}
    await client.call("POST", f"/sessions/{ids['weekly report']}/recall", once, expect=201)
    path = f"/sessions/{ids['nightly build']}/automations"
    for automation in (
        {"name": "error log", "message": "Look at /var/log/app.log; report what is new.",
         "cron_expr": "0 9 * * 1-5", "tz": "Europe/Berlin"},
        {"name": "disk space", "message": "Check the disk; warn me below 10 %.",
         "every_seconds": 21600},
        {"name": "licence renewal", "message": "Remind me to renew the licence.",
         "at": "in 3 weeks"},
    ):  # fmt: skip
        await client.call("POST", path, automation, expect=201)


async def _insert_story(server: ServerProcess, session_id: str) -> None:
    store = Store(server.database_url)
    store.start()
    await store.transact(_insert_messages, session_id)
    await store.close()


def _insert_messages(connection: Connection, session_id: str) -> None:
    started_at = NOW - timedelta(minutes=50)
    for idx, (role, content, more) in enumerate(STORY):
        source = more.get("source", "user")
        row = {
            "id": f"story.{idx}", "session_id": session_id, "idx": idx, "turn_id": f"story-{idx}",
            "role": role, "content": content, "thinking": more.get("thinking", ""),
            "tool_calls": more.get("tool_calls", []), "is_recall": source == "recall",
            "source": source, "metadata": {}, "compacted_up_to": None,
            "timestamp": started_at + timedelta(minutes=7 * idx),
        }  # fmt: skip
        connection.execute(insert(messages), row)
    is_its_lane = lanes.c.session_id == session_id
    connection.execute(update(lanes).where(is_its_lane).values(next_idx=len(STORY)))


async def _take(browser: Browser, server: ServerProcess, ids: dict[str, str], scheme: str) -> None:
    tab = await Tab.open(browser, server, "", SIZE["width"])
    page = tab.page
    await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]

    async def shoot(name: str) -> None:
        await page.wait_for_timeout(600)
        await page.screenshot(path=IMAGES / f"{name}-{scheme}.png")

    await tab.session(ids["nightly build"])
    await page.locator(".viewport").wait_for()
    await shoot("conversation")
    await page.get_by_label("Schedule a recall").click()
    await page.get_by_label("When").fill("friday at 18:30")
    await page.get_by_label("What to do then").fill("Compare this week's build times.")
    await shoot("recall")
    await page.keyboard.press("Escape")
    await page.get_by_label("Automations", exact=True).click()
    await page.get_by_text("licence renewal").wait_for()
    await shoot("automations")
    await page.keyboard.press("Control+k")
    await page.get_by_label("Search all sessions").fill(SEARCH)
    await page.locator("mark").first.wait_for()
    await shoot("search")
    await page.keyboard.press("Enter")
    await page.locator(".target").first.wait_for()
    await shoot("transcript")
    await tab.go("#/analytics")
    await page.locator("svg .bar").first.wait_for(state="attached")
    await shoot("analytics")
    await _phone(page, tab, ids, scheme)
    await tab.close()


async def _take_every_view(
    browser: Browser, server: ServerProcess, ids: dict[str, str], scheme: str, folder: Path
) -> None:
    for width, height in WIDTHS.items():
        tab = await Tab.open(browser, server, "", width)
        page = tab.page
        await page.set_viewport_size({"width": width, "height": height})
        await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        async for view in views(tab, ids["nightly build"], SEARCH):
            await page.wait_for_timeout(600)
            await page.screenshot(path=folder / f"{view}-{width}-{scheme}.png")
        await tab.close()


async def _phone(page: Page, tab: Tab, ids: dict[str, str], scheme: str) -> None:
    await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    await tab.session(ids["nightly build"])
    await page.wait_for_timeout(600)
    await page.screenshot(path=IMAGES / f"phone-{scheme}.png")


TOPICS = [
    ("why is the auth token refused?", "The token is fine; the clock of that host is an hour off."),
    ("make the importer faster", "Most time went into parsing dates one by one. Now in batches."),
    ("add a dark theme", "Colours are variables now; the dark ones follow the system."),
    ("the deploy hangs at 90 %", "It waited for a lock that a dead worker held. I added a lease."),
    ("write tests for the parser", "Twelve cases, and the two that failed are fixed."),
    ("rotate the signing key", "Both keys are valid for a day; each token names its own."),
    ("orders are counted twice", "The retry sent them again. They carry an id now."),
    ("clean up the settings page", "Four sections instead of eleven, and one place for zones."),
    ("why is the cart slow?", "One query per item. It is one query for all of them now."),
    ("look at the flaky login test", "It took a token's age from the wall clock. Not any more."),
    ("upgrade the framework", "Done in three commits; the second one needed a new serializer."),
]
COMMANDS = ["git status", "git diff", "npm test", "pytest -q", "ls -la", "rg TODO", "cargo build"]


def _write_agent_files(home: Path) -> None:
    """Write invented sessions of Claude Code, spread over ten weeks."""
    chance = random.Random(7)
    for number in range(140):
        day = NOW - timedelta(days=chance.randrange(70))
        if day.weekday() > 4 and chance.random() < 0.7:
            continue
        at = day.replace(hour=min(22, max(7, round(chance.gauss(13, 3)))), minute=number % 60)
        project = chance.choice(["shop", "shop", "shop", "site", "importer", "infra"])
        folder = home / ".claude" / "projects" / f"-srv-{project}"
        folder.mkdir(parents=True, exist_ok=True)
        lines = _session(chance, f"s{number}", f"/srv/{project}", at)
        (folder / f"s{number}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def _session(chance: random.Random, session: str, cwd: str, at: datetime) -> list[dict[str, Any]]:
    question, answer = chance.choice(TOPICS)
    contents: list[tuple[str, Any]] = [("user", question)]
    for number in range(chance.randrange(3, 14)):
        tool = chance.choice(["Bash", "Bash", "Bash", "Read", "Edit", "Grep"])
        arguments = (
            {"command": chance.choice(COMMANDS)} if tool == "Bash" else {"file_path": "app.py"}
        )
        call = {"type": "tool_use", "id": f"{session}-{number}", "name": tool, "input": arguments}
        contents.append(("assistant", [call]))
    contents.append(("assistant", [{"type": "text", "text": answer}]))
    return [
        {
            "type": role,
            "uuid": f"{session}-{index}",
            "sessionId": session,
            "cwd": cwd,
            "timestamp": (at + timedelta(seconds=40 * index)).isoformat(),
            "message": {
                "role": role,
                "content": content,
                **(
                    {
                        "id": f"{session}-{index}",
                        "model": "claude-opus-4",
                        "usage": {
                            "input_tokens": chance.randrange(500, 4_000),
                            "output_tokens": chance.randrange(50, 900),
                            "cache_read_input_tokens": chance.randrange(5_000, 40_000),
                        },
                    }
                    if role == "assistant"
                    else {}
                ),
            },
        }
        for index, (role, content) in enumerate(contents)
    ]


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    (folder or IMAGES).mkdir(parents=True, exist_ok=True)
    asyncio.run(main(folder))
