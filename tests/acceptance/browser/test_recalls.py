"""Recalls: banner, countdown, skip, cancel, firing, history, waiting for a turn, the form."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.async_api import expect

from navi.live.store.engine.tables import session_recalls
from tests.acceptance.browser.conftest import OpenTab, in_browser
from tests.acceptance.browser.planted import plant
from tests.server import Client, ServerProcess

pytestmark = in_browser

BERLIN = re.compile("CES?T|GMT.[12]")
RECALL_SLOTS = 3
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
    countdown = await banner.locator("strong").inner_text()
    await expect(banner.locator("strong")).not_to_have_text(countdown)  # it counts down
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
    await tab.page.get_by_label("What to do then").fill("Read a.log [[say: I am awake]]")
    await expect(tab.button("Schedule")).to_be_disabled()
    await tab.page.get_by_label("then every").check()
    await when.fill("6s")
    await expect(tab.page.get_by_text("every 15 min")).to_be_visible()
    await tab.page.get_by_label("then every").uncheck()
    await tab.button("Schedule").click()

    await expect(tab.page.get_by_label("Pending recall", exact=True)).to_be_visible()
    await expect(tab.conversation).to_contain_text("I am awake")
    await expect(tab.page.locator("article.recall")).to_contain_text("Recall")
    await expect(tab.page.get_by_label("Pending recall", exact=True)).to_have_count(0)
    await tab.page.get_by_label("Past recalls").click()
    await expect(tab.page.get_by_role("dialog")).to_contain_text("done")


async def test_a_time_beyond_the_next_clock_change_is_read_in_the_zone_of_the_viewer(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="summer and winter")
    tab = await open_tab()
    await tab.session(session_id)
    await tab.page.get_by_label("Schedule a recall").click()
    year = datetime.now(UTC).year + 1
    for month, zone in (("01", "CET|GMT.1"), ("07", "CEST|GMT.2")):
        await tab.page.get_by_label("When").fill(f"{year}-{month}-01T09:00")
        reading = tab.page.locator("#recall-reading")
        await expect(reading).to_contain_text(re.compile(f"{year}, 09:00:00 ({zone})"))


async def test_a_warning_about_the_instruction_stays_until_it_was_read(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="chatty")
    tab = await open_tab()
    await tab.session(session_id)
    await tab.page.get_by_label("Schedule a recall").click()
    await tab.page.get_by_label("What to do then").fill("Tell the user that it is time")
    await tab.button("Schedule").click()
    dialog = tab.page.get_by_role("dialog")
    await expect(dialog.get_by_role("alert")).to_contain_text("too vague to act on")
    await expect(dialog.get_by_role("heading")).to_contain_text("Scheduled for")
    await tab.button("Keep it").click()
    await expect(dialog).to_have_count(0)
    await expect(tab.page.get_by_label("Pending recall", exact=True)).to_be_visible()


STEPS = "stopped after 25 steps: say 'continue', or raise [agent] max_iterations in the settings"
ONCE = {"call_type": "once", "when": "1h"}
RECURRING = {"call_type": "recurring", "when": "1h", "interval_seconds": 600}


@pytest.mark.parametrize(
    ("fields", "end", "expected", "is_failure"),
    [
        (ONCE, ("fired", "ok", None), "done", False),
        (ONCE, ("fired", "max_iterations", STEPS), "done · .*stopped after 25 steps", False),
        (ONCE, ("cancelled", "error", "no model"), "failed · .*no model", True),
        (ONCE, ("fired", "denied", "refused: Bash"), "refused · .*Bash", False),
        (ONCE, ("pending", "limit", None), "pending · .*last time: hit a usage limit", False),
        (ONCE, ("fired", "stopped", None), "stopped · ", False),
        (ONCE, ("cancelled", "cancelled", None), "cancelled · ", False),
        (RECURRING, ("fired", "replaced", None), "replaced by a newer recall · ", False),
        (RECURRING, ("pending", "ok", None), "pending · ", False),
        (
            RECURRING,
            ("pending", "error", "no model"),
            r"pending · .*every 10 min.*last time: failed \(no model\)",
            False,
        ),
    ],
)
async def test_past_recalls_call_only_a_failure_failed(
    server: ServerProcess,
    client: Client,
    open_tab: OpenTab,
    fields: dict[str, Any],
    end: tuple[str, str, str | None],
    expected: str,
    is_failure: bool,
) -> None:
    session_id = await client.session(name="history")
    body = {**fields, "additional_context_message": "look"}
    made = await client.call("POST", f"/sessions/{session_id}/recall", body, expect=201)
    status, outcome, error = end
    await plant(server, session_recalls, made["id"], status=status, outcome=outcome, error=error)
    tab = await open_tab()
    await tab.session(session_id)
    await tab.page.get_by_label("Past recalls").click()
    entry = tab.page.get_by_role("dialog").get_by_role("listitem")
    await expect(entry).to_have_text(re.compile(rf"^\s*{expected}", re.DOTALL))
    await expect(entry.locator(".alarm")).to_have_count(2 if is_failure else 0)


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
    await expect(banner).to_contain_text("waiting for the current turn to end")
    await tab.button("Stop").click()
    await expect(tab.page.locator(".markdown").last).to_have_text("woken")
    await expect(banner).to_have_count(0)


async def test_a_recurring_recall_is_shown_and_can_be_cancelled_while_it_runs(
    client: Client, open_tab: OpenTab
) -> None:
    session_id = await client.session(name="running beat")
    work = "Read a.log [[say: looking]] [[sleep: 600]]"
    body = {**HOURLY, "when": "0s", "additional_context_message": work}
    await client.call("POST", f"/sessions/{session_id}/recall", body, expect=201)
    tab = await open_tab()
    await tab.session(session_id)
    banner = tab.page.get_by_label("Pending recall", exact=True)
    await expect(banner).to_contain_text("Recall running now")
    await expect(banner).to_contain_text("repeats every 1 h")
    item = tab.page.locator(f'[data-session="{session_id}"]')
    await expect(item).to_contain_text("has a pending recall")

    await banner.get_by_role("button", name="Cancel").click()
    await expect(banner).to_have_count(0)
    await tab.button("Stop").click()  # the turn itself continued
    await expect(tab.button("Stop")).to_be_hidden()
    await client.call("GET", f"/sessions/{session_id}/recall", expect=404)


async def test_a_recall_that_waits_for_a_slot_is_shown_and_can_be_cancelled(
    own_server: ServerProcess, open_tab: OpenTab
) -> None:
    async with own_server.client() as client:
        for number in range(RECALL_SLOTS):
            other = await client.session(name=f"busy {number}")
            body = {"call_type": "immediate", "additional_context_message": "[[sleep: 600]]"}
            await client.call("POST", f"/sessions/{other}/recall", body, expect=201)
        session_id = await client.session(name="waiting")
        tab = await open_tab(on=own_server)
        busy = tab.page.locator("[data-session]").filter(has_text="running")
        await expect(busy).to_have_count(RECALL_SLOTS)
        body = {"call_type": "once", "when": "0s", "additional_context_message": "[[say: woken]]"}
        await client.call("POST", f"/sessions/{session_id}/recall", body, expect=201)
        await tab.session(session_id)
        banner = tab.page.get_by_label("Pending recall", exact=True)
        await expect(banner).to_contain_text("waiting for a free slot")
        chips = tab.page.get_by_role("list", name="Queued inputs").get_by_role("listitem")
        await expect(chips).to_have_count(1)

        await banner.get_by_role("button", name="Cancel").click()
        await expect(banner).to_have_count(0)
        await expect(chips).to_have_count(0)


async def test_a_second_recall_is_refused_in_the_form(client: Client, open_tab: OpenTab) -> None:
    session_id = await client.session(name="one only")
    await client.call("POST", f"/sessions/{session_id}/recall", HOURLY, expect=201)
    tab = await open_tab()
    tab.expected.append("409")
    await tab.session(session_id)
    await tab.page.get_by_label("Schedule a recall").click()
    await tab.page.get_by_label("What to do then").fill("look")
    await tab.button("Schedule").click()
    await expect(tab.page.get_by_role("alert")).to_contain_text("One recall can be pending")
