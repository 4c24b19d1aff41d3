"""Automations: the panel, the form with its preview, runs, and what protects them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.async_api import Locator, expect

from navi.live.store.engine.tables import automations
from tests.acceptance.browser.conftest import OpenTab, in_browser
from tests.acceptance.browser.planted import plant
from tests.acceptance.browser.tab import Tab
from tests.server import Client, ServerProcess

pytestmark = in_browser


async def automation(client: Client, session_id: str, **fields: Any) -> dict[str, Any]:
    wanted = {"name": "error log", "message": "[[say: looked]]", **fields}
    path = f"/sessions/{session_id}/automations"
    return dict(await client.call("POST", path, wanted, expect=201))


async def open_panel(tab: Tab, session_id: str) -> Locator:
    await tab.session(session_id)
    await tab.page.get_by_label("Automations", exact=True).click()
    return tab.page.get_by_role("complementary", name="Automations")


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
    await expect(panel).to_contain_text("No automations yet.")
    await panel.get_by_role("button", name="Add").click()
    await page.get_by_label("Name").fill("greeting")
    await page.get_by_label("What to do each time").fill("[[say: good morning]]")
    preview = page.get_by_label("Next runs")
    await expect(preview).to_contain_text("09:00")
    await expect(preview).to_contain_text("Europe/Berlin")
    await expect(preview.get_by_role("listitem")).to_have_count(5)
    await page.get_by_label("Schedule", exact=True).select_option("cron")
    await page.get_by_label("Minute, hour").fill("99 9 * * *")
    await expect(preview.locator(".alarm")).to_be_visible()
    await expect(tab.button("Add automation")).to_be_disabled()
    await page.get_by_label("Schedule", exact=True).select_option("at")
    await page.get_by_label("When").fill("in 2 seconds")
    await expect(preview.get_by_role("listitem")).to_have_count(1)
    await tab.button("Add automation").click()

    await expect(panel).to_contain_text("greeting")
    await expect(panel.locator(".state")).to_have_text("done")
    await panel.get_by_role("button", name="Runs").click()
    runs = page.get_by_role("list", name="Runs of greeting")
    await expect(runs).to_contain_text("done")
    await runs.get_by_role("button").click()
    await expect(runs).to_contain_text("[[say: good morning]]")
    assert await page.evaluate("document.documentElement.scrollWidth") <= width
    await page.get_by_label("Close automations").click()
    await expect(tab.conversation).to_contain_text("good morning")
    await expect(page.locator("article.automation header")).to_contain_text("Automation greeting")


async def test_a_time_of_day_needs_no_cron_expression(client: Client, open_tab: OpenTab) -> None:
    session_id = await client.session(name="daily")
    tab = await open_tab()
    panel = await open_panel(tab, session_id)
    await panel.get_by_role("button", name="Add").click()
    page = tab.page
    await page.get_by_label("Name").fill("weekly")
    await page.get_by_label("What to do each time").fill("look")
    await page.get_by_label("Days").select_option("Mondays")
    await page.get_by_label("Time", exact=True).fill("07:05")
    await expect(page.get_by_label("Next runs")).to_contain_text("at 07:05 on Monday")
    await tab.button("Add automation").click()
    await expect(panel).to_contain_text("at 07:05 on Monday")

    await panel.get_by_role("button", name="Edit").click()
    await expect(page.get_by_label("Days")).to_have_value("1")
    await page.get_by_label("Days").select_option("every day")
    await expect(page.get_by_label("Time", exact=True)).to_have_value("07:05")
    await tab.button("Save").click()
    await expect(panel).not_to_contain_text("Monday")
    [made] = await client.call("GET", f"/sessions/{session_id}/automations")
    assert made["schedule"]["cron_expr"] == "5 7 * * *"


@pytest.mark.parametrize("cron", ["*/5 9 * * 1-5", "0 9 1 * *", "0 9 * * 1,3"])
async def test_other_cron_expressions_are_edited_as_they_are(
    client: Client, open_tab: OpenTab, cron: str
) -> None:
    session_id = await client.session(name="cron")
    await automation(client, session_id, cron_expr=cron)
    tab = await open_tab()
    panel = await open_panel(tab, session_id)
    await panel.get_by_role("button", name="Edit").click()
    await expect(tab.page.get_by_label("Minute, hour")).to_have_value(cron)


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
    current = await client.call("GET", f"/automations/{made['id']}")
    assert (current["schedule"]["every_seconds"], current["name"]) == (7200, "error logs")
    await panels[1].get_by_role("button", name="Remove").click()
    await panels[1].get_by_role("button", name="Confirm removal").click()
    for panel in panels:
        await expect(panel).to_contain_text("No automations yet.")


async def test_a_time_for_once_is_read_and_shown_in_the_zone_of_the_viewer(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="berlin")
    tab = await open_tab()
    panel = await open_panel(tab, session_id)
    await panel.get_by_role("button", name="Add").click()
    page = tab.page
    await page.get_by_label("Name").fill("morning")
    await page.get_by_label("What to do each time").fill("look")
    await page.get_by_label("Schedule", exact=True).select_option("at")
    await page.get_by_label("When, in Europe/Berlin").fill("tomorrow at 9")
    runs = page.get_by_label("Next runs").get_by_role("listitem")
    # The five of the form's first schedule stay until the server has read the new one.
    await expect(runs).to_have_count(1)
    await expect(runs).to_contain_text("09:00")
    await tab.button("Add automation").click()
    await expect(panel).to_contain_text("once, ")
    await expect(panel.get_by_text("once, ")).to_contain_text("09:00")
    await panel.get_by_role("button", name="Edit").click()
    await expect(page.get_by_label("When, in")).to_have_value(
        re.compile(r"^\d{4}-\d\d-\d\d 09:00$")
    )


async def test_renaming_an_automation_does_not_move_its_next_run(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="steady")
    made = await automation(client, session_id, every_seconds=3600)
    tab = await open_tab()
    panel = await open_panel(tab, session_id)
    await panel.get_by_role("button", name="Edit").click()
    await expect(tab.page.get_by_label("Next runs").get_by_role("listitem")).to_have_count(5)
    await tab.page.get_by_label("Name").fill("renamed")
    await tab.button("Save").click()
    await expect(panel).to_contain_text("renamed")
    current = await client.call("GET", f"/automations/{made['id']}")
    assert current["next_run_at"] == made["next_run_at"]


async def test_an_automation_for_once_is_done_only_when_its_run_is(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="busy")
    tab = await open_tab()
    panel = await open_panel(tab, session_id)
    await tab.send("[[say: long work]] [[sleep: 600]]")
    await expect(tab.conversation).to_contain_text("long work")
    await automation(client, session_id, message="[[say: at last]] [[sleep: 600]]", at="now")
    state = panel.locator(".state")
    await expect(state).to_have_text("queued")
    await tab.button("Stop").click()
    await expect(tab.conversation).to_contain_text("at last")
    await expect(state).to_have_text("running now")
    await tab.button("Stop").click()
    await expect(state).to_have_text("done")


async def test_an_automation_that_has_run_once_can_be_renamed(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="finished")
    made = await automation(client, session_id, at="now")
    tab = await open_tab()
    panel = await open_panel(tab, session_id)
    await expect(panel.locator(".state")).to_have_text("done")
    await panel.get_by_role("button", name="Edit").click()
    await expect(tab.page.get_by_label("Next runs")).to_contain_text("done")
    await tab.page.get_by_label("Name").fill("renamed")
    await tab.button("Save").click()
    await expect(panel).to_contain_text("renamed")
    current = await client.call("GET", f"/automations/{made['id']}")
    assert (current["ended"], current["schedule"]["at"]) == ("done", made["schedule"]["at"])


async def test_an_automation_that_has_run_once_is_scheduled_again(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="once more")
    made = await automation(client, session_id, at="now")
    tab = await open_tab()
    panel = await open_panel(tab, session_id)
    await panel.get_by_role("button", name="Schedule again").click()
    when = tab.page.get_by_label("When, in")
    await expect(when).to_be_focused()
    await expect(tab.button("Schedule")).to_be_disabled()
    await when.fill("2h")
    await tab.button("Schedule").click()
    await expect(panel.locator(".state")).to_contain_text("next in 1 h 59 min")
    current = await client.call("GET", f"/automations/{made['id']}")
    assert (current["enabled"], current["ended"]) == (True, None)


async def test_a_failed_run_says_what_went_wrong_and_folds_the_traceback(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="failing")
    await automation(client, session_id, message="[[fail: no model]]", at="now")
    tab = await open_tab()
    panel = await open_panel(tab, session_id)
    await panel.get_by_role("button", name="Runs").click()
    runs = tab.page.get_by_role("list", name="Runs of error log")
    await expect(runs.locator("p.alarm")).to_have_text("no model")
    traceback = runs.get_by_text("Traceback (most recent call last)")
    await expect(traceback).to_be_hidden()
    await runs.get_by_text("Details").click()
    await expect(traceback).to_be_visible()


async def test_a_run_that_met_a_usage_limit_is_neither_done_nor_failed(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="limited")
    await automation(client, session_id, message="[[say: I try]] [[limit: 3600]]", at="now")
    tab = await open_tab()
    panel = await open_panel(tab, session_id)
    await expect(panel).to_contain_text("last run just now: usage limit")
    await panel.get_by_role("button", name="Runs").click()
    run = tab.page.get_by_role("list", name="Runs of error log").get_by_role("listitem")
    await expect(run.get_by_role("button")).to_contain_text("usage limit")
    await expect(run.locator(".alarm")).to_have_count(0)
    await expect(tab.page.locator("p.warning")).to_contain_text("Usage limit")
    await client.call("POST", "/limits/ignore", {})


async def test_a_session_at_a_usage_limit_says_until_when(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="limited until")
    tab = await open_tab()
    await tab.session(session_id)
    await tab.send("[[say: I try]] [[limit: 3600]]")
    await expect(tab.page.locator("header .limit")).to_contain_text("limit until ")
    await expect(tab.page.locator("li .limit")).to_contain_text("limit until ")
    await client.call("POST", "/limits/ignore", {})
    await expect(tab.page.locator(".limit")).to_have_count(0)


async def test_missed_runs_are_counted_in_the_panel_and_in_the_conversation(
    own_server: ServerProcess, open_tab: OpenTab
) -> None:
    async with own_server.client() as client:
        session_id = await client.session(name="asleep")
        made = await automation(client, session_id, every_seconds=3600)
    own_server.stop()
    due_at = datetime.now(UTC) - timedelta(hours=3, minutes=1)
    anchor_at = due_at - timedelta(hours=1)
    await plant(own_server, automations, made["id"], next_run_at=due_at, anchor_at=anchor_at)
    own_server.start()

    tab = await open_tab(on=own_server)
    panel = await open_panel(tab, session_id)
    await expect(panel).to_contain_text(re.compile(r"\d missed"))
    header = tab.page.locator("article.automation header")
    await expect(header).to_contain_text(re.compile(r"after \d missed"))


async def test_deleting_a_session_tells_finished_automations_from_paused_ones(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="protected")
    await automation(client, session_id, at="now")
    paused = await automation(client, session_id, name="second", every_seconds=3600)
    await client.call("PATCH", f"/automations/{paused['id']}", {"enabled": False})
    tab = await open_tab()
    tab.expected.append("409")
    panel = await open_panel(tab, session_id)
    await expect(panel.locator(".state")).to_have_text(["done", "paused"])
    await tab.button("Delete session").click()
    dialog = tab.page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Delete session").click()
    names = ["error log (finished)", "second (paused)"]
    await expect(dialog.get_by_role("listitem")).to_have_text(names)


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
