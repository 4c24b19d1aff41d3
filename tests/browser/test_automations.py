"""Automations: the panel, the form with its preview, runs, and what protects them."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenTab, in_browser
from tests.server import Client

pytestmark = in_browser


async def automation(client: Client, session_id: str, **fields: Any) -> dict[str, Any]:
    wanted = {"name": "error log", "message": "[[say: looked]]", **fields}
    path = f"/sessions/{session_id}/automations"
    return dict(await client.call("POST", path, wanted, expect=201))


@pytest.mark.parametrize("width", [1280, 390])
async def test_an_automation_is_added_with_a_preview_runs_and_has_a_history(
    client: Client, open_tab: OpenTab, width: int
) -> None:
    session_id = await client.session(name="automated")
    tab = await open_tab(width=width)
    tab.expected.append("422")
    await tab.session(session_id)
    page = tab.page
    await page.get_by_label("Automations", exact=True).click()
    panel = page.get_by_role("complementary", name="Automations")
    await expect(panel).to_contain_text("None.")
    await panel.get_by_role("button", name="Add").click()
    await page.get_by_label("Name").fill("greeting")
    await page.get_by_label("What to do each time").fill("[[say: good morning]]")
    preview = page.get_by_label("Next runs")
    await expect(preview).to_contain_text("09:00")
    await expect(preview).to_contain_text("Europe/Berlin")
    await expect(preview.get_by_role("listitem")).to_have_count(5)
    await page.get_by_label("Minute, hour").fill("99 9 * * *")
    await expect(preview.locator(".alarm")).to_be_visible()
    await expect(tab.button("Add automation")).to_be_disabled()
    await page.get_by_label("Schedule", exact=True).select_option("at")
    await page.get_by_label("When").fill("in 2 seconds")
    await expect(preview.get_by_role("listitem")).to_have_count(1)
    await tab.button("Add automation").click()

    await expect(panel).to_contain_text("greeting")
    await expect(panel).to_contain_text("ended: done")
    await panel.get_by_role("button", name="Runs").click()
    runs = page.get_by_role("list", name="Runs of greeting")
    await expect(runs).to_contain_text("done")
    await runs.get_by_role("button").click()
    await expect(runs).to_contain_text("[[say: good morning]]")
    assert await page.evaluate("document.documentElement.scrollWidth") <= width
    await page.get_by_label("Close automations").click()
    await expect(tab.conversation).to_contain_text("good morning")
    await expect(page.locator("article.automation header")).to_contain_text("Automation greeting")


async def test_an_automation_is_paused_edited_and_removed_in_all_tabs(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="two panels")
    made = await automation(client, session_id, every_seconds=3600)
    tabs = [await open_tab(), await open_tab()]
    panels = []
    for each in tabs:
        await each.session(session_id)
        await each.page.get_by_label("Automations", exact=True).click()
        panels.append(each.page.get_by_role("complementary", name="Automations"))
        await expect(panels[-1]).to_contain_text("next in 59 min")
    await panels[0].get_by_role("button", name="Pause").click()
    for panel in panels:
        await expect(panel).to_contain_text("paused")
    await panels[1].get_by_role("button", name="Resume").click()
    for panel in panels:
        await expect(panel).to_contain_text("next in")
    await panels[0].get_by_role("button", name="Edit").click()
    page = tabs[0].page
    await expect(page.get_by_label("Every")).to_have_value("1")
    await page.get_by_label("Every").fill("2")
    await page.get_by_label("Name").fill("error logs")
    await expect(page.get_by_label("Next runs")).to_contain_text("2 h")
    await tabs[0].button("Save").click()
    for panel in panels:
        await expect(panel).to_contain_text("error logs")
    found = await client.call("GET", f"/automations/{made['id']}")
    assert (found["schedule"]["every_seconds"], found["name"]) == (7200, "error logs")
    await panels[1].get_by_role("button", name="Remove").click()
    await panels[1].get_by_role("button", name="Really remove").click()
    for panel in panels:
        await expect(panel).to_contain_text("None.")


async def test_a_failed_run_says_what_went_wrong(client: Client, open_tab: OpenTab) -> None:
    session_id = await client.session(name="failing")
    await automation(client, session_id, message="[[fail: no model]]", at="now")
    tab = await open_tab()
    await tab.session(session_id)
    await tab.page.get_by_label("Automations", exact=True).click()
    panel = tab.page.get_by_role("complementary", name="Automations")
    await panel.get_by_role("button", name="Runs").click()
    await expect(tab.page.get_by_role("list", name="Runs of error log")).to_contain_text("no model")


async def test_deleting_a_session_names_the_automations_that_would_go(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="protected")
    await automation(client, session_id, every_seconds=3600)
    await automation(client, session_id, name="second", cron_expr="0 9 * * *")
    tab = await open_tab()
    tab.expected.append("409")
    await tab.session(session_id)
    await tab.button("Delete session").click()
    dialog = tab.page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Delete session").click()
    await expect(dialog.get_by_role("listitem")).to_have_text(["error log", "second"])
    await client.call("GET", f"/sessions/{session_id}")
    await dialog.get_by_role("button", name="Delete session and 2 automations").click()
    await expect(tab.page.get_by_role("dialog")).to_have_count(0)
    await client.call("GET", f"/sessions/{session_id}", expect=404)
