"""A list of many sessions: filter, pin, archive, group, fold."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.acceptance.browser.conftest import OpenTab, in_browser
from tests.acceptance.browser.own_user import OwnUser
from tests.acceptance.browser.rows import ids, link, mark, row
from tests.server import ServerProcess

pytestmark = [in_browser, pytest.mark.proof]

WIDTHS = [1280, 390]
MANY = 500
SMALL = """all => all.filter(each => each.type !== "checkbox").map(each => {
    const {width, height} = each.getBoundingClientRect();
    return {html: each.outerHTML.slice(0, 90), width, height};
}).filter(({width, height}) => width > 0 && (width < 44 || height < 44))"""


async def test_one_of_five_hundred_sessions_is_found_by_its_words(
    open_tab: OpenTab, own_server: ServerProcess
) -> None:
    async with own_server.client() as client:
        for first in range(0, MANY, 20):
            numbers = range(first, first + 20)
            await asyncio.gather(*(client.session(name=f"session {each}") for each in numbers))
        ended = await client.session(name="the heron")
        await client.call("POST", f"/sessions/{ended}/kill")
    tab = await open_tab(on=own_server)
    page = tab.page
    rows = page.locator("[data-session]")
    await expect(rows).to_have_count(MANY + 1)
    await page.keyboard.press("f")
    await page.keyboard.type("HERON stopped")
    await expect(rows).to_have_count(1)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("the heron")

    await page.get_by_label("Filter the list").fill("nothing like it")
    await expect(page.get_by_text("No session matches.")).to_be_visible()
    await page.get_by_label("Filter the list").press("Escape")
    await expect(rows).to_have_count(MANY + 1)


@pytest.mark.parametrize("width", WIDTHS)
async def test_a_pinned_session_is_on_top_and_an_archived_one_out_of_the_way(
    open_tab: OpenTab, own_user: OwnUser, width: int
) -> None:
    async with own_user.client() as client:
        pinned, archived, newest = [await client.session(name=each) for each in "abc"]
    tab, other = await open_tab(on=own_user, width=width), await open_tab(on=own_user)
    await mark(tab, pinned, "Pin")
    await mark(tab, archived, "Archive")
    for each in (tab, other):
        await expect(link(each, archived)).to_have_count(0)
        await expect(each.page.get_by_role("heading", name="Pinned")).to_be_visible()
        assert await ids(each) == [pinned, newest]

    await tab.button("Undo").click()
    await expect(link(other, archived)).to_be_visible()
    await mark(tab, archived, "Archive")
    await expect(link(tab, archived)).to_have_count(0)
    await tab.page.reload()
    await tab.button("Arrange the list").click()
    await expect(link(tab, archived)).to_have_count(0)
    await tab.page.get_by_label("Show archived").check()
    await expect(tab.page.get_by_role("heading", name="Archived")).to_be_visible()
    await mark(tab, archived, "Unarchive")
    await expect(link(other, archived)).to_be_visible()


async def test_an_archived_session_that_fails_is_listed_again(
    open_tab: OpenTab, own_user: OwnUser
) -> None:
    async with own_user.client() as client:
        session_id = await client.session(name="forgotten")
        body = {"call_type": "once", "when": "0s", "additional_context_message": "[[fail: no]]"}
        await client.call("PATCH", f"/sessions/{session_id}", {"archived": True})
        tab = await open_tab(on=own_user)
        await expect(tab.page.get_by_text("All sessions are archived.")).to_be_visible()
        await client.call("POST", f"/sessions/{session_id}/recall", body, expect=201)
        await expect(link(tab, session_id)).to_contain_text("failed")


async def test_groups_and_folded_children_are_remembered(
    open_tab: OpenTab, own_user: OwnUser, tmp_path: Path
) -> None:
    shop, docs = tmp_path / "shop", tmp_path / "docs"
    shop.mkdir()
    docs.mkdir()
    async with own_user.client() as client:
        parent = await client.session(name="parent", cwd=str(shop))
        child = await client.session(name="child", parent_id=parent)
        other = await client.session(name="other", cwd=str(docs))
    tab = await open_tab(on=own_user)
    page = tab.page
    await tab.button("Arrange the list").click()
    await page.get_by_label("Group by").select_option("day")
    await expect(page.get_by_role("heading", name="Today")).to_be_visible()
    await page.get_by_label("Group by").select_option("folder")
    await expect(page.get_by_role("heading", name="shop")).to_be_visible()
    await expect(page.get_by_role("heading", name="docs")).to_be_visible()
    assert await ids(tab) == [other, parent, child]
    await row(tab, parent).get_by_label("Sessions below: 1").click()
    await expect(link(tab, child)).to_have_count(0)

    await page.reload()
    await expect(page.get_by_role("heading", name="shop")).to_be_visible()
    await expect(link(tab, child)).to_have_count(0)
    # What is filtered for is listed, folded or not.
    await page.get_by_label("Filter the list").fill("child")
    await expect(link(tab, child)).to_be_visible()


async def test_everything_in_the_list_is_large_enough_for_a_finger(
    open_tab: OpenTab, own_user: OwnUser
) -> None:
    async with own_user.client() as client:
        parent = await client.session(name="parent")
        await client.session(name="child", parent_id=parent)
    tab = await open_tab(on=own_user, width=390)
    await tab.button("Arrange the list").click()
    await row(tab, parent).get_by_label("Pin or archive").click()
    targets = tab.page.get_by_role("navigation").locator("button, a, input, select")
    assert await targets.evaluate_all(SMALL) == []
