"""Recalls: banner, countdown, skip, cancel, firing, history, waiting for a turn, the form."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenTab, in_browser
from tests.server import Client

pytestmark = in_browser

BERLIN = re.compile("CES?T|GMT.[12]")
HOURLY = {
    "call_type": "recurring",
    "when": "1h",
    "interval_seconds": 3600,
    "additional_context_message": "[[say: I looked]]",
    "internal_comment": "the nightly build",
}


@pytest.mark.parametrize("width", [1280, 390])
async def test_a_banner_shows_the_pending_recall_in_all_tabs_until_it_is_cancelled(
    client: Client, open_tab: OpenTab, width: int
) -> None:
    session_id = await client.session(name="banner")
    tab, other = await open_tab(width=width), await open_tab()
    await tab.session(session_id)
    await other.session(session_id)
    await client.call("POST", f"/sessions/{session_id}/recall", HOURLY, expect=201)
    banner = tab.page.get_by_label("Pending recall", exact=True)
    await expect(banner).to_contain_text("the nightly build")
    await expect(banner).to_contain_text("then every 1 h")
    await expect(banner).to_contain_text(re.compile(r"Wakes in (59 min \d+ s|1 h)"))
    shown = await banner.locator("strong").inner_text()
    await expect(banner.locator("strong")).not_to_have_text(shown)  # it counts down
    # The absolute time, in the viewer's zone.
    await expect(banner.locator("strong")).to_have_attribute("title", BERLIN)
    assert await tab.page.evaluate("document.documentElement.scrollWidth") <= width

    await banner.get_by_role("button", name="Skip").click()
    await expect(banner).to_contain_text(re.compile(r"Wakes in (1 h 59 min|2 h)"))
    others = other.page.get_by_label("Pending recall", exact=True)
    await expect(others).to_contain_text(re.compile(r"Wakes in (1 h 59 min|2 h)"))
    await others.get_by_role("button", name="Cancel").click()
    for each in (banner, others):
        await expect(each).to_have_count(0)
    await tab.page.get_by_label("Past recalls").click()
    await expect(tab.page.get_by_role("dialog")).to_contain_text("cancelled")


async def test_a_recall_is_scheduled_with_a_preview_fires_and_is_history(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="form")
    tab = await open_tab()
    tab.expected.append("422")
    await tab.session(session_id)
    await tab.page.get_by_label("Schedule a recall").click()
    when, reading = tab.page.get_by_label("When"), tab.page.locator("#recall-reading")
    await when.fill("tomorrow at 9")
    await expect(reading).to_contain_text(re.compile(f"09:00:00 {BERLIN.pattern}"))
    await when.fill("gibberish")
    await expect(reading).to_have_class(re.compile("alarm"))
    await tab.page.get_by_label("What it should do then").fill("[[say: I am awake]]")
    await expect(tab.button("Schedule")).to_be_disabled()
    await tab.page.get_by_label("and then every").check()
    await when.fill("6s")
    await expect(tab.page.get_by_text("every 15 min")).to_be_visible()
    await tab.page.get_by_label("and then every").uncheck()
    await tab.button("Schedule").click()

    await expect(tab.page.get_by_label("Pending recall", exact=True)).to_be_visible()
    await expect(tab.conversation).to_contain_text("I am awake")
    await expect(tab.page.locator("article.recall")).to_contain_text("Recall")
    await expect(tab.page.get_by_label("Pending recall", exact=True)).to_have_count(0)
    await tab.page.get_by_label("Past recalls").click()
    await expect(tab.page.get_by_role("dialog")).to_contain_text("fired")


async def test_a_recall_that_is_due_waits_for_the_running_turn(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="busy")
    tab = await open_tab()
    await tab.session(session_id)
    await tab.send("[[say: long work]] [[sleep: 600]]")
    await expect(tab.conversation).to_contain_text("long work")
    recall = {"call_type": "once", "when": "1s", "additional_context_message": "[[say: woken]]"}
    await client.call("POST", f"/sessions/{session_id}/recall", recall, expect=201)
    banner = tab.page.get_by_label("Pending recall", exact=True)
    await expect(banner).to_contain_text("waiting for the running turn")
    await tab.button("Stop").click()
    await expect(tab.page.locator(".markdown").last).to_have_text("woken")
    await expect(banner).to_have_count(0)


async def test_a_second_recall_is_refused_in_the_form(client: Client, open_tab: OpenTab) -> None:
    session_id = await client.session(name="one only")
    await client.call("POST", f"/sessions/{session_id}/recall", HOURLY, expect=201)
    tab = await open_tab()
    tab.expected.append("409")
    await tab.session(session_id)
    await tab.page.get_by_label("Schedule a recall").click()
    await tab.page.get_by_label("What it should do then").fill("look")
    await tab.button("Schedule").click()
    await expect(tab.page.get_by_role("alert")).to_contain_text("One recall can be pending")
