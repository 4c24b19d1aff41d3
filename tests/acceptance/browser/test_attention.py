"""What needs a person: marks, the number in the title, what is read, notifications."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.acceptance.browser.conftest import OpenTab, in_browser
from tests.acceptance.browser.own_user import OwnUser
from tests.acceptance.browser.rows import ids, link
from tests.acceptance.browser.tab import Tab
from tests.acceptance.browser.turns import has_ended, session_after
from tests.server import Client
from tests.waiting import eventually

pytestmark = in_browser

WIDTHS = [1280, 390]
NAMES = ("first", "second", "third")

# Browsers without a desktop show no notifications, and tests can't hide a tab.
DESKTOP = """
window.notifications = [];
window.requests = 0;
window.Notification = class {
    static permission = "default";
    static async requestPermission() {
        window.requests += 1;
        return (this.permission = "granted");
    }
    constructor(title, options) {
        window.notifications.push({title, ...options, click: () => this.onclick()});
    }
    close() {}
};
Object.defineProperty(document, "hidden", {get: () => window.isAway ?? false});
"""
LEAVE = """isAway => {
    window.isAway = isAway;
    document.dispatchEvent(new Event("visibilitychange"));
}"""


async def is_read(client: Client, session_id: str) -> None:
    async def is_read() -> bool:
        session = await client.call("GET", f"/sessions/{session_id}")
        return session["unread"] is False

    await eventually(is_read, "the session is read")


@pytest.mark.parametrize("width", WIDTHS)
async def test_what_needs_me_is_on_top_with_its_mark_and_counted_in_the_title(
    open_tab: OpenTab, own_user: OwnUser, width: int
) -> None:
    async with own_user.client() as client:
        finished = await session_after(client, "[[say: done]]", name="report")
        failed = await session_after(client, "[[fail: no]]", name="build")
        quiet = await client.session(name="quiet")
        tab, other = await open_tab(on=own_user, width=width), await open_tab(on=own_user)
        page = tab.page
        await expect(page).to_have_title("(2) Navi")
        await expect(link(tab, finished)).to_contain_text("finished")
        await expect(link(tab, failed)).to_contain_text("failed")
        await expect(link(tab, quiet)).to_contain_text("idle")
        assert await ids(tab) == [failed, finished, quiet]
        await expect(page.get_by_role("heading", name="Needs you")).to_be_visible()

        await link(tab, finished).click()
        await expect(page).to_have_title("(1) report · Navi")
        await is_read(client, finished)
        await expect(link(other, finished)).to_contain_text("idle")
        await expect(other.page).to_have_title("(1) Navi")
        # Reading it does not move it.
        await expect(link(tab, finished)).to_contain_text("idle")
        assert await ids(tab) == [failed, finished, quiet]
        await tab.session(failed)
        await expect(page).to_have_title("build · Navi")
        await expect(other.page).to_have_title("Navi")


async def test_a_turn_that_ends_before_my_eyes_is_read(
    open_tab: OpenTab, own_user: OwnUser
) -> None:
    async with own_user.client() as client:
        session_id = await client.session(name="watched")
        tab: Tab = await open_tab(on=own_user)
        await tab.session(session_id)
        await client.say(session_id, "[[say: done]]")
        await expect(tab.conversation).to_contain_text("done")
        await has_ended(client, session_id)
        await is_read(client, session_id)
        await expect(link(tab, session_id)).to_contain_text("idle")
        await expect(tab.page).to_have_title("watched · Navi")


async def test_notifications_are_off_by_default_and_come_while_the_page_is_hidden(
    open_tab: OpenTab, own_user: OwnUser
) -> None:
    async with own_user.client() as client:
        first, second, third = [await client.session(name=each) for each in NAMES]
        tab: Tab = await open_tab(on=own_user)
        page = tab.page
        await page.add_init_script(DESKTOP)
        await page.reload()
        switch = page.get_by_role("switch", name="Notifications")
        await expect(switch).not_to_be_checked()
        assert await page.evaluate("requests") == 0
        await switch.click()
        await expect(switch).to_be_checked()
        assert await page.evaluate("requests") == 1

        # The page is visible, and then it is in another tab.
        await client.say(first, "[[say: seen]]")
        await expect(link(tab, first)).to_contain_text("finished")
        other = await tab.context.new_page()
        await other.goto(own_user.address)
        await other.get_by_role("switch", name="Notifications").wait_for()
        await page.evaluate(LEAVE, True)
        await client.say(third, "[[say: seen]]")
        await expect(link(tab, third)).to_contain_text("finished")
        await other.close()

        await client.say(second, "[[fail: no]]")
        await page.wait_for_function("() => notifications.length > 0")
        notifications = await page.evaluate("notifications.map(({body, tag}) => ({body, tag}))")
        assert notifications == [{"body": "second failed", "tag": second}]

        await page.evaluate(LEAVE, False)
        await page.evaluate("notifications[0].click()")
        await expect(page.get_by_role("heading", name="second")).to_be_visible()
