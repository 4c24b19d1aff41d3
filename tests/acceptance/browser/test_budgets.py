"""Budgets on the page: set for a session and an automation, seen when used up, raised."""

from __future__ import annotations

from playwright.async_api import expect

from tests.acceptance.browser.conftest import OpenTab, in_browser
from tests.acceptance.contract.conftest import finished
from tests.server import Client

pytestmark = in_browser


async def test_a_session_says_that_it_waits_for_its_budget_until_that_is_raised(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="frugal", budget={"tokens": 1})
    await client.say(session_id, "one")
    await finished(client, session_id)
    await client.say(session_id, "two")
    tab = await open_tab()
    await tab.session(session_id)
    page = tab.page
    header = page.locator("header").filter(has_text="frugal")
    await expect(header).to_contain_text("paused: the session's budget of 1 token is used up")

    await page.get_by_role("button", name="Budget", exact=True).click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("of 1 token")
    await dialog.get_by_role("spinbutton", name="Budget").fill("500000")
    await dialog.get_by_role("button", name="Save").click()

    await expect(page.get_by_text("ok: two")).to_be_visible()
    await expect(header).not_to_contain_text("paused")
    budget = await client.call("GET", f"/sessions/{session_id}/budget")
    assert (budget["tokens"], budget["per"]) == (500_000, "session")


async def test_an_automations_budget_is_set_in_its_form(client: Client, open_tab: OpenTab) -> None:
    session_id = await client.session(name="planned")
    path = f"/sessions/{session_id}/automations"
    fields = {"name": "hourly", "message": "look", "every_seconds": 3600}
    made = await client.call("POST", path, fields, expect=201)
    tab = await open_tab()
    await tab.session(session_id)
    page = tab.page
    await page.get_by_label("Automations", exact=True).click()
    panel = page.get_by_role("complementary", name="Automations")
    await panel.get_by_role("button", name="Edit").click()
    await page.get_by_role("spinbutton", name="Budget").fill("7000")
    await page.get_by_label("Budget in").select_option("tokens")
    await page.get_by_label("Budget for").select_option("each day")
    await tab.button("Save").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)

    budget = await client.call("GET", f"/automations/{made['id']}/budget")
    assert (budget["tokens"], budget["per"]) == (7_000, "day")
