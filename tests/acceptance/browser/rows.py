"""Rows of the list of sessions."""

from __future__ import annotations

from playwright.async_api import Locator

from tests.acceptance.browser.tab import Tab


def link(tab: Tab, session_id: str) -> Locator:
    return tab.page.locator(f'[data-session="{session_id}"]')


def row(tab: Tab, session_id: str) -> Locator:
    return tab.page.get_by_role("listitem").filter(has=link(tab, session_id))


async def ids(tab: Tab) -> list[str]:
    """The listed sessions, from top to bottom."""
    rows = tab.page.locator("[data-session]")
    return list(await rows.evaluate_all("all => all.map(each => each.dataset.session)"))


async def mark(tab: Tab, session_id: str, action: str) -> None:
    """Press "Pin", "Unpin", "Archive" or "Unarchive" in a session's row."""
    place = row(tab, session_id)
    # The button appears under the mouse.
    await place.hover()
    await place.get_by_label("Pin or archive").click()
    await place.get_by_role("button", name=action, exact=True).click()
