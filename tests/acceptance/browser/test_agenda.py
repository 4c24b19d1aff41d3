"""The agenda: what will happen next, over all sessions."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.acceptance.browser.conftest import OpenTab, in_browser
from tests.acceptance.browser.own_user import OwnUser

pytestmark = in_browser


@pytest.mark.parametrize("width", [1280, 390])
async def test_the_agenda_lists_what_will_happen_next_and_follows_changes(
    open_tab: OpenTab, own_user: OwnUser, width: int
) -> None:
    async with own_user.client() as client:
        session_id = await client.session(name="gardener")
        tab = await open_tab("#/agenda", on=own_user, width=width)
        page = tab.page
        await expect(page.get_by_text("Nothing is scheduled.")).to_be_visible()
        await expect(page).to_have_title("Agenda · Navi")

        path = f"/sessions/{session_id}"
        recall = {"call_type": "once", "when": "3h", "additional_context_message": "look"}
        automation = {"name": "watering", "message": "Water.", "every_seconds": 7200}
        reminder = {"session_id": session_id, "delay_seconds": 3600, "message": "the roses"}
        await client.call("POST", f"{path}/recall", recall, expect=201)
        await client.call("POST", f"{path}/automations", automation, expect=201)
        await client.call("POST", "/scheduler/remind", reminder)
        items = page.get_by_role("main").get_by_role("listitem")
        await expect(items).to_have_count(3)
        for item, words in enumerate(("the roses", "watering", "look")):
            await expect(items.nth(item)).to_contain_text(words)
            await expect(items.nth(item)).to_contain_text("gardener")
        assert await page.evaluate("document.documentElement.scrollWidth") <= width

        await client.call("DELETE", f"{path}/recall")
        await expect(items).to_have_count(2)
        await items.first.get_by_role("link").click()
        await expect(page.get_by_role("heading", name="gardener")).to_be_visible()
