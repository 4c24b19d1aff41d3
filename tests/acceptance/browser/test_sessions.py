"""The list of sessions: rename, children, states, delete, keys."""

from __future__ import annotations

import asyncio
import json
import re
import time

from playwright.async_api import expect

from tests.acceptance.browser.conftest import OpenTab, in_browser
from tests.acceptance.browser.own_user import OwnUser
from tests.server import Client, ServerProcess, navi
from tests.waiting import eventually

pytestmark = in_browser


async def test_a_job_that_runs_apart_adds_no_session_to_the_list(
    open_tab: OpenTab, own_server: ServerProcess
) -> None:
    own_server.kill()
    at = int((time.time() + 4) * 1000)
    job = {
        "id": "apart",
        "name": "apart",
        "schedule": {"kind": "at", "atMs": at},
        # Scheduled: if it comes due before the import, it is caught up.
        "state": {"nextRunAtMs": at},
        "payload": {"kind": "agent_turn", "message": "Check."},
    }
    jobs = own_server.home / "jobs.json"
    jobs.write_text(json.dumps({"version": 1, "jobs": [job]}))
    await asyncio.to_thread(navi, own_server, "import-jobs", str(jobs))
    own_server.start()
    tab = await open_tab(on=own_server)
    await expect(tab.page.get_by_text("No sessions yet", exact=True)).to_be_visible()

    async with own_server.client() as client:

        async def has_run() -> bool:
            job = await client.call("GET", "/automations/apart")
            return job["last_status"] is not None

        await eventually(has_run, "the job has run")
        # Sent after everything the job did, so the page has seen that too.
        seen = await client.session(name="seen")

    await expect(tab.page.locator(f'[data-session="{seen}"]')).to_be_visible()
    await expect(tab.page.locator("[data-session]")).to_have_count(1)


async def test_a_new_name_is_seen_everywhere(client: Client, open_tab: OpenTab) -> None:
    session_id = await client.session(name="old name")
    tab, other = await open_tab(), await open_tab()
    await tab.session(session_id)
    await tab.button("old name").click()
    await tab.page.get_by_label("Name").fill("new name")
    await tab.page.keyboard.press("Enter")
    for each in (tab, other):
        await expect(each.page.locator(f'[data-session="{session_id}"]')).to_contain_text(
            "new name"
        )


async def test_children_are_under_their_parent_with_their_states_in_words(
    client: Client, open_tab: OpenTab
) -> None:
    parent = await client.session(name="parent")
    child = await client.session(name="child", parent_id=parent)
    await client.session(name="somebody else")
    await client.say(child, "[[sleep: 600]]")
    tab = await open_tab()
    page = tab.page
    await expect(page.locator(f'[data-session="{child}"]')).to_contain_text("running")
    ids = await page.locator("[data-session]").evaluate_all(
        "all => all.map(a => a.dataset.session)"
    )
    assert ids.index(child) == ids.index(parent) + 1
    await client.call("POST", f"/sessions/{child}/kill")
    await expect(page.locator(f'[data-session="{child}"]')).to_contain_text("stopped")
    await expect(page.locator(f'[data-session="{parent}"]')).to_contain_text("idle")


async def test_sessions_that_will_wake_have_a_clock_and_can_be_shown_alone(
    client: Client, open_tab: OpenTab
) -> None:
    plain, waking = await client.session(name="plain"), await client.session(name="waking")
    tab = await open_tab()
    item = tab.page.locator(f'[data-session="{waking}"]')
    await expect(item).to_be_visible()
    body = {"call_type": "once", "when": "1h", "additional_context_message": "look"}
    await client.call("POST", f"/sessions/{waking}/recall", body, expect=201)
    await expect(item).to_contain_text("has a pending recall")

    await tab.page.get_by_label("Only sessions with a pending recall").click()
    await expect(tab.page.locator(f'[data-session="{plain}"]')).to_be_hidden()
    await expect(item).to_be_visible()
    await client.call("DELETE", f"/sessions/{waking}/recall")
    await expect(item).to_be_hidden()


async def test_a_session_is_deleted_after_a_second_look(client: Client, open_tab: OpenTab) -> None:
    session_id = await client.session(name="to be deleted")
    tab, other = await open_tab(), await open_tab()
    await tab.session(session_id)
    await other.session(session_id)
    await tab.button("Delete session").click()
    await tab.button("Cancel").click()
    await client.call("GET", f"/sessions/{session_id}")
    await tab.button("Delete session").click()
    await tab.page.get_by_role("dialog").get_by_role("button", name="Delete session").click()
    await expect(tab.page.locator(f'[data-session="{session_id}"]')).to_be_hidden()
    await expect(other.page.get_by_text("this session was deleted")).to_be_visible()
    await client.call("GET", f"/sessions/{session_id}", expect=404)


async def test_keys_lead_through_the_sessions(own_user: OwnUser, open_tab: OpenTab) -> None:
    async with own_user.client() as client:
        await client.session(name="older")
        await client.session(name="newer")
    tab = await open_tab(on=own_user)
    page = tab.page
    await page.locator("[data-session]").first.wait_for()
    await page.keyboard.press("j")
    await expect(page.locator("[aria-current=page]")).to_contain_text("newer")
    await page.keyboard.press("j")
    await expect(page.locator("[aria-current=page]")).to_contain_text("older")
    await page.keyboard.press("k")
    await expect(page.locator("[aria-current=page]")).to_contain_text("newer")
    await page.keyboard.press("i")
    await expect(page.get_by_label("Message", exact=True)).to_be_focused()
    await page.keyboard.type("jk?/")
    await expect(page.get_by_label("Message", exact=True)).to_have_value("jk?/")
    await page.keyboard.press("Escape")
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog", name="Settings and help")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await page.keyboard.press("g")
    await page.keyboard.press("s")
    await expect(page.get_by_text("Choose a session")).to_be_visible()
    await page.keyboard.press("g")
    await page.keyboard.press("d")
    await expect(page.get_by_role("heading", name="Agenda")).to_be_visible()
    await page.keyboard.press("f")
    await expect(page.get_by_label("Filter the list")).to_be_focused()


async def test_everything_that_can_be_pressed_has_a_name(client: Client, open_tab: OpenTab) -> None:
    session_id = await client.session(name="named")
    tab = await open_tab()
    await tab.session(session_id)
    nameless = await tab.page.locator("button, a, input, textarea, select").evaluate_all(
        """all => all.filter(each => !(each.ariaLabel || each.textContent.trim() || each.title
            || each.labels?.length)).map(each => each.outerHTML)"""
    )
    assert nameless == []


async def test_a_session_without_a_name_is_shown_by_the_first_line_written_in_it(
    open_tab: OpenTab, client: Client
) -> None:
    session_id = await client.session()
    new = f"New session {session_id[:4]}"
    tab = await open_tab()
    page = tab.page
    await tab.session(session_id)
    heading = page.get_by_role("heading", level=1)
    await expect(heading).to_have_text(new)
    await expect(page).to_have_title(re.compile(rf"{re.escape(new)} · Navi$"))

    # At once, not when the turn has ended.
    await tab.send("Feed   the <b>heron</b>.\n[[sleep: 600]]")

    title = "Feed the <b>heron</b>."
    await expect(heading).to_have_text(title)
    await expect(page.locator(f'[data-session="{session_id}"]')).to_contain_text(title)
    await expect(page).to_have_title(re.compile(rf"{re.escape(title)} · Navi$"))
    await heading.get_by_role("button").click()
    await expect(page.get_by_label("Name")).to_have_value(title)
    await page.get_by_label("Name").fill("birds")
    await page.keyboard.press("Enter")
    await expect(heading).to_have_text("birds")
    await client.call("POST", f"/sessions/{session_id}/stop")
