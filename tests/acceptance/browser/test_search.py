"""The memory in the page: search, jump, resume, wake; and the figures."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.acceptance.browser.conftest import OpenTab, in_browser
from tests.acceptance.contract.conftest import finished
from tests.memory_world import World
from tests.server import ServerProcess

pytestmark = in_browser

MESSAGES = 400
"""Messages in the long transcript: the one that is looked for is far from both ends."""


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def indexed(server: ServerProcess) -> AsyncIterator[str]:
    """Index sessions of Claude Code and one of Navi; return the id of Navi's."""
    (server.home / "claude").symlink_to(server.home / ".claude")
    world = World(server.home)
    shop = world.file("long", "shop")
    for number in range(MESSAGES):
        text = "the needle is 🪡 *here*" if number == MESSAGES // 2 else f"hay number {number}"
        shop.say(text, "assistant" if number % 2 else "user")
    for number in range(60):
        shop.run("git status")
        shop.run(f"git log -{number}")
    (server.home / "shed").mkdir()
    world.file("lawn", "shed").say("mow the lawn")
    world.file("hostile", "shop").say("<img src=x onerror=alert(1)> haystack").run("rm -rf /")
    async with server.client() as client:
        session_id = await client.session(name="knitting")
        await client.say(session_id, "knitting needles are not hay")
        await finished(client, session_id)
    command = [sys.executable, "-m", "navi.cli.recall.main", "index"]
    subprocess.run(command, env=server.environment, check=True, capture_output=True)  # noqa: ASYNC221
    yield session_id


@pytest.mark.parametrize("width", [1280, 390])
async def test_a_result_opens_the_transcript_at_that_message(
    indexed: str, open_tab: OpenTab, width: int
) -> None:
    tab = await open_tab(width=width)
    page = tab.page
    await page.get_by_role("button", name="New session").wait_for()
    await page.keyboard.press("Control+k")
    await page.get_by_label("Search all sessions").fill("needle")
    hits = page.get_by_role("dialog").get_by_role("listitem")
    await expect(hits.locator("mark").first).to_have_text("needle")
    await hits.filter(has_text="🪡").click()

    await expect(page.get_by_text("the needle is 🪡 *here*")).to_be_in_viewport()
    title = await page.get_by_role("heading", level=1).inner_text()
    await expect(page).to_have_title(re.compile(rf"{re.escape(title)} · Navi$"))
    assert "hay number 199" in await tab.text()
    await expect(page.get_by_text("hay number 399")).to_have_count(0)
    assert await page.evaluate("document.documentElement.scrollWidth") <= width
    await tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await tab.copy("Copy resume command")
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert copied.endswith("claude --resume long")


async def test_filters_are_suggested_while_one_types(indexed: str, open_tab: OpenTab) -> None:
    tab = await open_tab()
    page = tab.page
    await tab.button("Search").click()
    box = page.get_by_label("Search all sessions")
    offered = page.get_by_role("group", name="Filters").get_by_role("button")
    await box.fill("hay ag")
    await expect(offered).to_have_text(["agent:"])
    await offered.first.click()
    await expect(box).to_have_value("hay agent:")
    await expect(box).to_be_focused()
    await expect(offered).to_have_text(["agent:claude-code", "agent:codex", "agent:navi"])
    await offered.last.click()
    await expect(box).to_have_value("hay agent:navi ")
    await expect(offered).to_have_count(0)
    hits = page.get_by_role("dialog").get_by_role("listitem")
    await expect(hits).to_have_count(2)
    await box.fill('needles origin:user outcome:ok "in a phrase ag')
    await expect(offered).to_have_count(0)
    await box.fill("needles origin:user outcome:ok")
    await expect(hits).to_have_count(2)
    await box.fill("needles outcome:failed")
    await expect(hits).to_have_count(0)
    await expect(page.get_by_text("No matches.")).to_be_visible()


async def test_filters_narrow_the_search_down(indexed: str, open_tab: OpenTab) -> None:
    tab = await open_tab()
    page = tab.page
    await tab.button("Search").click()
    dialog = page.get_by_role("dialog")
    await page.get_by_label("Search all sessions").fill("hay*")
    await expect(dialog).to_contain_text("Claude Code")
    await page.get_by_label("Agent").select_option("navi")
    await expect(dialog.locator("section")).to_have_count(1)
    await expect(dialog.locator("section")).to_contain_text("Navi")
    await page.get_by_label("Project").fill("shop")
    await expect(dialog).to_contain_text("No matches")
    await page.get_by_label("Project").fill("")
    await page.get_by_label("Agent").select_option("")
    await page.get_by_label("Tool").fill("Bash")
    await page.get_by_label("Search all sessions").fill("status")
    await expect(dialog.locator("section").first).to_contain_text("git status")
    await page.get_by_label("Since").select_option("24h")
    await expect(dialog).to_contain_text("No matches")


async def test_filters_are_typed_among_the_words(indexed: str, open_tab: OpenTab) -> None:
    tab = await open_tab()
    tab.expected.append("422")
    page = tab.page
    await tab.button("Search").click()
    dialog = page.get_by_role("dialog")
    box = page.get_by_label("Search all sessions")
    await box.fill("hay* agent:navi")
    await expect(dialog.locator("section")).to_have_count(1)
    await expect(dialog.locator("section")).to_contain_text("Navi")
    await box.fill("hay* agent:nobody")
    await expect(dialog).to_contain_text("agent:nobody is not an agent")
    await expect(dialog).to_contain_text("for example agent:codex")


async def test_a_session_that_navi_runs_can_be_woken_from_the_search(
    indexed: str, open_tab: OpenTab
) -> None:
    tab = await open_tab()
    page = tab.page
    await tab.button("Search").click()
    await page.get_by_label("Search all sessions").fill("knitting")
    await tab.button("Wake this session").click()
    await page.get_by_label("When").fill("3h")
    await page.get_by_label("What to do then").fill("look at the pattern")
    await tab.button("Schedule").click()
    item = page.locator(f'[data-session="{indexed}"]')
    await expect(item).to_contain_text("has a pending recall")


async def test_a_session_of_claude_code_is_taken_in_when_it_is_woken(
    indexed: str, open_tab: OpenTab
) -> None:
    tab = await open_tab()
    page = tab.page
    await tab.button("Search").click()
    await page.get_by_label("Search all sessions").fill("lawn")
    await tab.button("Wake this session").click()
    await page.get_by_label("When").fill("3h")
    await page.get_by_label("What to do then").fill("look at the grass")
    await expect(page.locator("[data-session]").filter(has_text="shed-")).to_have_count(0)
    await tab.button("Schedule").click()
    item = page.locator("[data-session]").filter(has_text="shed-")
    await expect(item).to_contain_text("has a pending recall")
    await tab.session(str(await item.get_attribute("data-session")))
    await expect(page.get_by_text("in your own terminal are not shown here")).to_be_visible()


async def test_keys_are_enough_to_search(indexed: str, open_tab: OpenTab) -> None:
    tab = await open_tab()
    await tab.button("New session").wait_for()
    await tab.page.keyboard.press("/")
    await expect(tab.page.get_by_label("Search all sessions")).to_be_focused()
    await tab.page.keyboard.type("haystack")
    # A list waits for exactly one mark; a string would fail while there are several.
    await expect(tab.page.locator("mark")).to_have_text(["haystack"])
    await tab.page.keyboard.press("Enter")
    await expect(tab.conversation).to_contain_text("<img src=x onerror=alert(1)> haystack")


@pytest.mark.parametrize("width", [1280, 390])
async def test_analytics_show_what_was_done_and_what_may_run_unasked(
    indexed: str, open_tab: OpenTab, width: int
) -> None:
    tab = await open_tab("#/analytics", width=width)
    page = tab.page
    await page.get_by_label("Since").select_option("")
    await page.get_by_label("Agent").select_option("claude-code")
    await expect(page.locator("dl")).to_contain_text("sessions")
    await expect(page.get_by_role("img", name="Sessions by day")).to_be_visible()
    await expect(page.get_by_role("img", name="Sessions by day").locator(".hit")).to_have_count(1)
    await page.get_by_role("img", name="Sessions by day").locator(".hit").hover()
    await expect(page.locator("figcaption").first).to_contain_text("Mar")
    await expect(page.get_by_role("heading", name="Tools")).to_be_visible()
    fragment = page.get_by_label("Settings fragment")
    permissions = json.loads(await fragment.inner_text())["permissions"]
    rules = permissions["allow"]
    assert any(rule.startswith("Bash(git status") for rule in rules)
    assert "Bash(git log:*)" in rules
    assert "Bash(git* --ou*)" in permissions["ask"]
    assert not any("rm" in rule for rule in rules)
    await page.get_by_label("git status").first.uncheck()
    await expect(fragment).not_to_contain_text("git status")
    await page.get_by_text("not suggested, and why").click()
    await expect(page.locator(".skipped")).to_contain_text("rm")
    assert await page.evaluate("document.documentElement.scrollWidth") <= width


async def test_without_an_index_the_command_that_makes_one_is_named(
    open_tab: OpenTab, own_server: ServerProcess
) -> None:
    tab = await open_tab(on=own_server)
    tab.expected.append("404")
    await tab.go("#/analytics")
    await expect(tab.page.get_by_text("nothing is indexed yet")).to_contain_text("recall index")
    await tab.page.keyboard.press("/")
    await tab.page.get_by_label("Search all sessions").fill("anything")
    await expect(tab.page.get_by_role("dialog")).to_contain_text("recall index")


async def test_back_from_a_transcript_leads_to_the_results(indexed: str, open_tab: OpenTab) -> None:
    tab = await open_tab()
    page = tab.page
    await tab.session(indexed)
    before = page.url
    await tab.button("Search").click()
    field = page.get_by_label("Search all sessions")
    await field.fill("needle")
    await page.get_by_label("Agent").select_option("claude-code")
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_text("1 passage in 1 session")).to_be_visible()
    await field.press("Enter")
    await expect(page.get_by_text("the needle is 🪡 *here*")).to_be_in_viewport()
    await expect(dialog).to_have_count(0)

    await page.go_back()

    # A reload keeps it too.
    for _ in range(2):
        await expect(field).to_have_value("needle")
        await expect(page.get_by_label("Agent")).to_have_value("claude-code")
        await expect(dialog.locator("mark")).to_have_text(["needle"])
        await page.reload()
    await expect(field).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await expect(page).to_have_url(before)


async def test_without_words_the_newest_sessions_are_listed(
    indexed: str, open_tab: OpenTab
) -> None:
    tab = await open_tab()
    page = tab.page
    await tab.button("Search").click()
    results = page.get_by_label("Results")
    # Other tests' sessions may be more than the page lists.
    await expect(results).to_contain_text(re.compile("sessions, newest first|newest sessions"))
    await expect(results.get_by_role("listitem").filter(has_text="knitting")).to_have_count(1)
    await page.get_by_label("Project").fill("shed")
    await expect(results).to_contain_text("1 session")
    await expect(results.get_by_role("listitem")).to_have_count(1)
    await page.get_by_label("Search all sessions").press("Enter")
    await expect(tab.conversation).to_contain_text("mow the lawn")


async def test_one_can_scroll_away_from_the_message_that_was_looked_for(
    indexed: str, open_tab: OpenTab
) -> None:
    tab = await open_tab()
    page = tab.page
    await tab.button("Search").click()
    await page.get_by_label("Search all sessions").fill("needle")
    await page.get_by_role("dialog").get_by_role("listitem").filter(has_text="🪡").click()
    await expect(page.get_by_text("the needle is 🪡 *here*")).to_be_in_viewport()
    view = page.locator(".viewport")
    # Each step measures rows that were not drawn before.
    await view.evaluate(
        """async (view) => {
            for (let step = 0; step < 10; step += 1) {
                view.scrollTop -= 400;
                for (let frame = 0; frame < 3; frame += 1) {
                    await new Promise(requestAnimationFrame);
                }
            }
        }"""
    )
    await expect(page.get_by_text("the needle is 🪡 *here*")).not_to_be_in_viewport()
