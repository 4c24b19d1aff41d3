"""Long sessions and fast streams. `python -m benchmarks.page` measures how fast the page is."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Page, Route, expect

from tests.acceptance.browser.conftest import OpenTab, in_browser
from tests.acceptance.browser.long_session import (
    PHRASE,
    key_times_ms,
    make_long_session,
    opened_ms,
    stream_quickly,
)
from tests.server import Client, ServerProcess

pytestmark = in_browser

DRAWN_ROWS = 120
PLACE_AT_REST = """async (view) => {
    const place = () => {
        const top = view.getBoundingClientRect().top;
        const row = [...view.querySelectorAll(".item")]
            .find(each => each.getBoundingClientRect().bottom > top + 1);
        return [row.dataset.key, row.getBoundingClientRect().top - top];
    };
    const pictures = () => new Promise(
        (done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    let last, now = null;
    do {
        await pictures();
        [last, now] = [now, place()];
    } while (String(last) !== String(now));
    return now;
}"""
"""The first row on the screen and where it is, once the rows have been measured and keep still."""

TO_THE_TOP = """async (view) => {
    let most = 0;
    while (!view.textContent.includes("question 0")) {
        view.scrollTop = Math.max(0, view.scrollTop - 20_000);
        await new Promise(requestAnimationFrame);
        most = Math.max(most, view.querySelectorAll(".item").length);
    }
    return most;
}"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def long_session(server: ServerProcess) -> AsyncIterator[str]:
    yield await make_long_session(server)


async def drawn(page: Page) -> int:
    return await page.locator(".viewport .item").count()


async def test_of_5000_messages_only_those_near_the_screen_are_drawn(
    long_session: str, open_tab: OpenTab
) -> None:
    tab = await open_tab()
    await expect(tab.page.locator(f'[data-session="{long_session}"]')).to_be_visible()
    await opened_ms(tab, long_session)
    assert await drawn(tab.page) < DRAWN_ROWS


async def test_one_can_scroll_from_the_end_of_5000_messages_to_their_beginning(
    long_session: str, open_tab: OpenTab
) -> None:
    tab = await open_tab(width=390)
    await tab.session(long_session)
    view = tab.page.locator(".viewport")
    most = await view.evaluate(TO_THE_TOP)
    await expect(tab.page.get_by_text("question 0", exact=True)).to_be_visible()
    assert most < DRAWN_ROWS
    # What is on the screen is in order, without gaps.
    edges = await view.evaluate(
        """each => [...each.querySelectorAll(".item")].map(row => row.getBoundingClientRect())
            .map(box => [box.top, box.bottom])"""
    )
    assert all(abs(a[1] - b[0]) < 1 for a, b in itertools.pairwise(edges))
    await tab.page.get_by_label("Jump to the end").click()
    await expect(tab.page.get_by_text("answer 2499")).to_be_in_viewport()


async def test_what_is_read_stays_in_place_while_older_messages_are_loaded(
    long_session: str, open_tab: OpenTab
) -> None:
    tab = await open_tab()
    are_wanted, may_come = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        are_wanted.set()
        await may_come.wait()
        await route.continue_()

    await tab.page.route("**/messages?before_idx=*", hold)
    await tab.session(long_session)
    await expect(tab.page.get_by_text("answer 2499")).to_be_in_viewport()
    view = tab.page.locator(".viewport")
    while not are_wanted.is_set():
        # Repeat: while a session opens, the page may still scroll to its end.
        await view.evaluate("view => { view.scrollTop = 1_500; }")
        await view.evaluate(PLACE_AT_REST)
    before = await view.evaluate(PLACE_AT_REST)
    height = await tab.page.locator(".all").evaluate("each => each.clientHeight")
    may_come.set()
    await tab.page.wait_for_function(
        "height => document.querySelector('.all').clientHeight > height * 1.5", arg=height
    )
    after = await view.evaluate(PLACE_AT_REST)
    assert after[0] == before[0]
    assert abs(after[1] - before[1]) < 2


async def test_nothing_typed_is_lost_while_a_hundred_deltas_a_second_arrive(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="quick")
    tab = await open_tab()
    await stream_quickly(client, tab, session_id)
    await key_times_ms(tab)
    field = tab.page.get_by_label("Message", exact=True)
    assert await field.input_value() == PHRASE
    await client.call("POST", f"/sessions/{session_id}/stop")
