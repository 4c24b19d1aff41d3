"""The inbox: everything that needs a person, most important first, and answered right there."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Locator, expect

from tests.acceptance.browser.conftest import OpenTab, in_browser
from tests.acceptance.browser.own_user import OwnUser
from tests.acceptance.browser.planted_questions import every_kind, plant, question
from tests.acceptance.browser.tab import Tab
from tests.acceptance.browser.turns import session_after
from tests.acceptance.contract.questioning import asking

pytestmark = in_browser

WIDTHS = [1280, 390]
NEED = '[[need: terminal | {"command": "echo hi"}]] [[say: done with it]]'
NEEDS = """async ({sessions, questions, automations}) => {
    const {needs} = await import("/assets/needs.js");
    const byId = new Map(sessions.map((each) => [each.id, each]));
    return needs(byId, questions, automations).map(({id, of, reason}) => [id, of, reason]);
}"""


def items(tab: Tab) -> Locator:
    return tab.page.locator("[data-need]")


@pytest.mark.parametrize("width", WIDTHS)
async def test_the_first_question_is_answered_in_two_taps(
    open_tab: OpenTab, own_user: OwnUser, width: int
) -> None:
    async with own_user.client() as client:
        await session_after(client, "[[fail: no]]", name="build")
        session_id = await client.session(name="asker")
        await client.say(session_id, NEED)
        tab = await open_tab("#/", on=own_user, width=width)
        page = tab.page

        inbox = page.get_by_role("link", name="Inbox")
        await expect(inbox).to_contain_text("2")
        await inbox.click()
        await items(tab).first.get_by_role("button", name="Allow", exact=True).click()

        await expect(items(tab).filter(has_text="May I call")).to_have_count(0)
        item = await finished(tab, "asker")
        assert await page.evaluate("document.documentElement.scrollWidth") <= width
        await item.get_by_role("link", name="asker").click()
        await expect(tab.conversation).to_contain_text("Allowed by you, on the page")
        await expect(tab.conversation).to_contain_text("done with it")


async def finished(tab: Tab, name: str) -> Locator:
    """The item that says that the session has finished."""
    item = items(tab).filter(has_text=name)
    await expect(item).to_contain_text("Finished")
    return item


@pytest.mark.parametrize("width", WIDTHS)
async def test_the_inbox_follows_what_happens_and_what_is_read(
    open_tab: OpenTab, own_user: OwnUser, width: int
) -> None:
    async with own_user.client() as client:
        tab = await open_tab("#/inbox", on=own_user, width=width)
        page = tab.page
        await expect(page).to_have_title("Inbox · Navi")
        await expect(page.get_by_text("Nothing needs you.")).to_be_visible()

        await session_after(client, "[[say: done]]", name="report")
        await session_after(client, "[[fail: no]]", name="build")
        session_id = await client.session(name="asker")
        await client.say(session_id, "[[ask: Which? | A | B]] [[say: thanks]]")
        await expect(items(tab)).to_have_count(3)
        for place, words in enumerate(("Which?", "build", "report")):
            await expect(items(tab).nth(place)).to_contain_text(words)
        await expect(page).to_have_title("(3) Inbox · Navi")
        assert await page.evaluate("document.documentElement.scrollWidth") <= width

        await items(tab).nth(1).get_by_role("button", name="Settle").click()
        await expect(items(tab)).to_have_count(2)
        await items(tab).first.get_by_role("button", name="B", exact=True).click()
        await expect(items(tab).filter(has_text="Which?")).to_have_count(0)
        await finished(tab, "asker")


async def test_an_automation_that_was_switched_off_is_switched_on_again(
    open_tab: OpenTab, own_user: OwnUser
) -> None:
    async with own_user.client() as client:
        session_id = await client.session(name="gardener")
        automation = {"name": "watering", "message": "[[fail: no water]]", "every_seconds": 3600}
        path = f"/sessions/{session_id}/automations"
        added = await client.call("POST", path, automation, expect=201)
        tab = await open_tab(on=own_user)
        patched: list[Any] = []
        off = {**added, "ended": "failed", "enabled": False, "last_error": "no water\nat line 1"}
        listed = {"id": f"disabled-{added['id']}", "since": added["created_at"], "then": "is off"}
        listed |= {"reason": "switched off after 5 failures in a row", "snoozed_until": None}
        await tab.page.route("**/inbox?*", lambda route: route.fulfill(json=[listed]))
        await tab.page.route("**/automations", lambda route: route.fulfill(json=[off]))

        async def switched_on(route: Any) -> None:
            patched.append(route.request.post_data_json)
            await route.continue_()

        await tab.page.route("**/automations/*", switched_on)
        await tab.go("#/inbox")
        await tab.page.reload()
        item = items(tab).filter(has_text="watering")
        await expect(item).to_contain_text("Switched off after 5 failures in a row")
        await expect(item).to_contain_text("gardener")
        await item.get_by_role("button", name="Switch on").click()
        await expect(items(tab)).to_have_count(0)
        assert patched == [{"enabled": True}]


@pytest.mark.proof
@pytest.mark.parametrize("width", WIDTHS)
async def test_what_is_snoozed_comes_back_when_it_happens_again(
    open_tab: OpenTab, own_user: OwnUser, width: int
) -> None:
    async with own_user.client() as client:
        session_id = await session_after(client, "[[fail: no disk space]]", name="build")
        await asking(client, "[[ask: Which? | A | B]] [[say: thanks]]", name="asker")
        tab = await open_tab("#/inbox", on=own_user, width=width)
        failure = items(tab).filter(has_text="build")
        await expect(failure).to_contain_text("Failed: no disk space")

        for item in (failure, items(tab).filter(has_text="Which?")):
            await item.get_by_role("button", name="Snooze").click()
            await item.get_by_role("button", name="Tomorrow").click()
            await expect(item).to_have_count(0)
        assert await tab.page.evaluate("document.documentElement.scrollWidth") <= width
        await tab.page.reload()
        await expect(tab.page.get_by_text("Nothing needs you.")).to_be_visible()

        await client.say(session_id, "[[fail: no memory]]")
        await expect(failure).to_contain_text("Failed: no memory")
        await expect(items(tab)).to_have_count(1)


async def test_keys_move_answer_and_open(open_tab: OpenTab, own_user: OwnUser) -> None:
    async with own_user.client() as client:
        session_id = await client.session(name="curious")
        tab = await open_tab("#/inbox", on=own_user)
        bash, edit = every_kind(session_id)[:2]
        answers = await plant(tab, bash, edit, question(session_id, "third"))
        press = tab.page.keyboard.press
        await expect(items(tab)).to_have_count(3)

        # Nothing is selected yet, so nothing is decided.
        await press("a")
        await press("j")
        await expect(items(tab).first).to_be_focused()
        await press("ArrowDown")
        await expect(items(tab).nth(1)).to_be_focused()
        await press("k")
        await press("d")
        await expect(items(tab)).to_have_count(2)
        # The next one has moved up, but a second press does not decide about it.
        await press("d")
        await press("a")
        await press("j")
        await expect(items(tab).first).to_be_focused()
        await press("a")
        await expect(items(tab)).to_have_count(1)
        assert [each["decision"] for each in answers] == ["deny", "allow"]

        await press("j")
        await press("Enter")
        await expect(tab.page.get_by_role("heading", name="curious")).to_be_visible()
        await press("g")
        await press("i")
        await expect(tab.page.get_by_role("heading", name="Inbox")).to_be_visible()


async def test_the_most_important_comes_first(open_tab: OpenTab) -> None:
    tab = await open_tab()

    def session(name: str, attention: str | None, minute: int, **fields: Any) -> dict[str, Any]:
        session = {"id": name, "title": name.title(), "attention": attention, "waiting_for": None}
        session |= {"paused": None, "last_outcome": "ok", "agent_status_text": None}
        return {**session, "updated_at": f"2026-11-18T12:{minute:02}:00.000Z", **fields}

    sessions = [
        session("quiet", None, 1, title="Garden"),
        session("done", "finished", 2, agent_status_text="all green"),
        session("asker", "waiting", 3, waiting_for="q"),
        session("terminal", "waiting", 4),
        session("broken", "failed", 8, last_outcome="denied"),
        session("limited", "failed", 9, last_outcome="limit"),
        session("old", "failed", 5, last_outcome="error"),
        session("unread", "unread", 7),
    ]
    automation: dict[str, Any] = {
        "id": "a",
        "name": "nightly",
        "session_key": "quiet",
        "ended": "failed",
    }
    automation |= {"enabled": False, "last_error": None, "last_run_at": None, "created_at": ""}
    done = {**automation, "id": "b", "ended": "done"}
    story = {"sessions": sessions, "questions": [question("asker", "q")]}

    needs = await tab.page.evaluate(NEEDS, {**story, "automations": [automation, done]})

    assert needs == [
        ["question-q", "Asker", ""],
        ["waiting-terminal", "", "Asks in its own terminal"],
        ["limit-limited", "", "Reached a usage limit"],
        ["failure-old", "", "Failed"],
        ["failure-broken", "", "Was denied permission"],
        ["disabled-a", "Garden", "Switched off after repeated failures"],
        ["finished-done", "", "Finished: “all green”"],
    ]


LISTED = """async ({needs, listed, now}) => {
    const {asListed} = await import("/assets/needs.js");
    const asked = new Map(listed.questions);
    return asListed(needs, {...listed, asked}, () => Date.parse(now))
        .map(({id, reason}) => [id, reason]);
}"""


async def test_what_was_put_away_is_hidden_unless_it_has_changed(open_tab: OpenTab) -> None:
    tab = await open_tab()
    early, now, late = (f"2026-11-18T{hour}:00:00.000Z" for hour in (11, 12, 13))

    def need(name: str, **fields: Any) -> dict[str, Any]:
        return {"id": name, "since": early, "reason": "ours", **fields}

    def item(name: str, snoozed_until: str | None = None) -> dict[str, Any]:
        listed = {"id": name, "reason": "theirs", "since": early, "then": None}
        return {**listed, "snoozed_until": snoozed_until}

    needs = [
        need("listed"),
        need("snoozed"),
        need("back again"),
        need("settled"),
        need("question", question={}),
        need("snoozed question", question={}),
        need("changed", since=now),
        need("new"),
    ]
    items = [
        item("listed"),
        item("snoozed", late),
        item("back again", early),
        item("snoozed question", late),
        item("changed"),
    ]
    questions = [[each["id"], early] for each in needs if each["id"] != "new"]
    story = {"needs": needs, "listed": {"items": items, "questions": questions}, "now": now}

    assert await tab.page.evaluate(LISTED, story) == [
        ["listed", "Theirs"],
        ["back again", "Theirs"],
        ["question", "ours"],
        ["changed", "ours"],
        ["new", "ours"],
    ]
