"""The search in the page says how fresh it is, and follows the index."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.async_api import Page, WebSocketRoute, expect

from tests.acceptance.browser.conftest import OpenTab, in_browser
from tests.memory_world import World
from tests.server import ServerProcess

pytestmark = in_browser

SITTING = 30
"""Sessions with a hit: more than fit on a screen."""


def state(age: timedelta | None, *, following: bool, problem: str | None = None) -> dict[str, Any]:
    at = None if age is None else (datetime.now(UTC) - age).isoformat()
    hint = None if problem is None else {"message": problem, "hint": "run `recall index`"}
    return {"refreshed_at": at, "is_following": following, "problem": hint}


@pytest.mark.parametrize(
    ("age", "following", "problem", "words"),
    [
        (timedelta(0), True, None, r"^Index up to date \(\d+ s ago\)$"),
        (timedelta(hours=3, seconds=5), False, None, "^Last indexed 3 h ago$"),
        (
            timedelta(0),
            False,
            "the index can't be written",
            "^New messages are not being indexed: the index can't be written$",
        ),
        (None, True, None, "^Indexing for the first time…$"),
        (None, False, None, "^Nothing indexed yet$"),
    ],
)
async def test_the_search_says_how_fresh_it_is(
    open_tab: OpenTab, age: timedelta | None, following: bool, problem: str | None, words: str
) -> None:
    tab = await open_tab()
    tab.expected.append("404")  # the server has no index
    await tab.plant_index(state(age, following=following, problem=problem))
    await tab.button("Search").click()
    await expect(tab.page.locator(".freshness")).to_have_text(re.compile(words))


@pytest.mark.parametrize(
    ("problem", "pending", "words"),
    [
        ("no model is installed", 0, r"\) · search by words alone$"),
        (None, 0, r"\) · search by words and meaning$"),
        (None, 1200, r"\) · search by words and meaning; 1,200 sessions by words alone so far$"),
    ],
)
async def test_the_search_says_whether_meaning_counts(
    open_tab: OpenTab, problem: str | None, pending: int, words: str
) -> None:
    tab = await open_tab()
    tab.expected.append("404")  # the server has no index
    hint = problem and {"message": problem, "hint": "recall model install"}
    meaning = {"is_ready": problem is None, "problem": hint, "pending_sessions": pending}
    await tab.plant_index({**state(timedelta(0), following=True), "meaning": meaning})
    await tab.button("Search").click()
    await expect(tab.page.locator(".freshness")).to_have_text(re.compile(words))
    if problem is not None:
        reason = tab.page.get_by_title("no model is installed; recall model install")
        await expect(reason).to_be_visible()


@pytest.mark.parametrize("status", [403, 404])
async def test_without_an_answer_nothing_is_said_about_freshness(
    open_tab: OpenTab, status: int
) -> None:
    tab = await open_tab()
    tab.expected += [str(status), "404"]  # the server has no index
    refusal = {"error": {"kind": "x", "message": "x", "hint": "x"}}
    await tab.page.route("**/index", lambda route: route.fulfill(status=status, json=refusal))
    async with tab.page.expect_response("**/index"):
        await tab.button("Search").click()
    await expect(tab.page.get_by_label("Search all sessions")).to_be_visible()
    await expect(tab.page.locator(".freshness")).to_have_count(0)


class Frames:
    """The page's WebSocket for all sessions, into which the test can inject frames."""

    def __init__(self) -> None:
        self._route: WebSocketRoute | None = None

    async def route(self, page: Page) -> None:
        await page.route_web_socket(re.compile(r"/ws$"), self._on_open)
        await page.reload()

    def _on_open(self, route: WebSocketRoute) -> None:
        route.connect_to_server()
        self._route = route

    def send(self, frame: dict[str, Any]) -> None:
        assert self._route is not None
        self._route.send(json.dumps(frame))


async def test_new_messages_are_found_without_typing_again(
    open_tab: OpenTab, own_server: ServerProcess
) -> None:
    world = World(own_server.home)
    (own_server.home / "claude").symlink_to(own_server.home / ".claude")
    for number in range(SITTING):
        world.file(f"pond-{number}", "pond").say(f"heron number {number} is sitting")
    index(own_server)
    tab = await open_tab(on=own_server)
    page, frames = tab.page, Frames()
    await tab.plant_index(state(timedelta(hours=3, seconds=5), following=False))
    await frames.route(page)
    await tab.button("Search").click()
    await page.get_by_label("Search all sessions").fill("heron")
    results = page.get_by_role("dialog").get_by_role("listitem")
    await expect(results).to_have_count(SITTING)
    for _ in range(20):
        await page.keyboard.press("ArrowDown")
    chosen = page.locator("a.chosen")
    kept = await chosen.inner_text()
    await expect(chosen).to_be_in_viewport()

    world.file("new", "pond").say("heron and heron and heron, all flown away")
    index(own_server)
    frames.send({"type": "index_refreshed", "index": state(timedelta(0), following=True)})

    await expect(page.locator(".freshness")).to_contain_text("Index up to date")
    await expect(results).to_have_count(SITTING + 1)
    await expect(page.get_by_role("dialog")).to_contain_text("all flown away")
    assert await chosen.inner_text() == kept
    await expect(chosen).to_be_in_viewport()
    await expect(page.get_by_label("Search all sessions")).to_be_focused()
    # It is not a session event, so those continue as before.
    async with own_server.client() as client:
        session_id = await client.session(name="after it")
    await expect(page.locator(f'[data-session="{session_id}"]')).to_be_attached()


def index(server: ServerProcess) -> None:
    command = [sys.executable, "-m", "navi.cli.recall.main", "index"]
    subprocess.run(command, env=server.environment, check=True, capture_output=True)
