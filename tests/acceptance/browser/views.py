"""The main views of the page, opened one after the other."""

from __future__ import annotations

from collections.abc import AsyncIterator

from playwright.async_api import expect

from tests.acceptance.browser.planted_questions import every_kind, plant
from tests.acceptance.browser.tab import Tab


async def views(tab: Tab, session_id: str, words: str) -> AsyncIterator[str]:
    """Open each view and yield its name. It needs a session with an automation, and a memory of
    the words."""
    page = tab.page
    await tab.go("#/")
    await page.locator("[data-session]").first.wait_for()
    yield "sessions"
    await tab.session(session_id)
    await tab.button("Copy answer").first.wait_for()
    yield "conversation"
    await page.get_by_label("Schedule a recall").click()
    await page.get_by_label("What to do then").fill("Compare this week's build times.")
    await page.get_by_label("then every").check()
    await expect(page.get_by_text("Next:")).to_be_visible()
    yield "recall"
    await page.keyboard.press("Escape")
    await page.get_by_label("Automations", exact=True).click()
    await page.get_by_role("button", name="Runs").first.click()
    await page.get_by_role("button", name="Runs", expanded=True).wait_for()
    yield "automations"
    await tab.button("Add").click()
    await page.get_by_label("Next runs").get_by_role("listitem").first.wait_for()
    yield "automation"
    await page.keyboard.press("Escape")
    await page.keyboard.press("Control+k")
    await page.locator("[data-hit]").first.wait_for()
    yield "recent"
    await page.get_by_label("Search all sessions").fill(words)
    await page.locator("mark").first.wait_for()
    yield "search"
    await page.keyboard.press("Enter")
    await page.locator(".target").first.wait_for()
    yield "transcript"
    await tab.go("#/agenda")
    await page.get_by_role("main").get_by_role("listitem").first.wait_for()
    yield "agenda"
    await plant(tab, *every_kind(session_id))
    await tab.go("#/inbox")
    await tab.button("Allow").first.wait_for()
    yield "inbox"
    await tab.session(session_id)
    await tab.button("Edit input…").click()
    await tab.button("Say why…").first.click()
    await page.get_by_label("Message to the agent").wait_for()
    yield "questions"
    await page.unroute_all()
    await tab.go("#/analytics")
    await page.locator("svg .bar").first.wait_for(state="attached")
    yield "analytics"
    await page.keyboard.press("?")
    await page.get_by_text("Keyboard shortcuts").or_(page.get_by_text("About")).first.wait_for()
    yield "settings"
    await page.keyboard.press("Escape")
    await page.keyboard.press("n")
    await page.get_by_role("dialog", name="New session").wait_for()
    yield "new"
    await tab.go("docs/how-to/service.md")
    await page.get_by_role("heading", name="Keep Navi running").wait_for()
    yield "documentation"
    await page.evaluate("localStorage.clear()")
    await tab.go("#/")
    await page.get_by_label("Token").wait_for()
    yield "login"
