"""A new session in one step: what it should do, and where, by whom."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.async_api import Route, expect

from tests.acceptance.browser.conftest import OpenTab, in_browser
from tests.acceptance.browser.tab import Tab
from tests.server import Client, ServerProcess

pytestmark = in_browser

WIDTHS = [1280, 390]


async def open_form(tab: Tab, text: str = "") -> None:
    await tab.button("New session").click()
    await expect(tab.page.get_by_label("What should it do?")).to_be_focused()
    await expect(tab.page.get_by_label("Agent").locator("option:enabled").first).to_be_attached()
    await tab.page.keyboard.type(text)


def session_of(tab: Tab) -> str:
    return str(tab.page.url.rsplit("/", 1)[-1])


@pytest.mark.parametrize("width", WIDTHS)
async def test_one_box_and_enter_start_a_session_that_gets_the_next_words(
    open_tab: OpenTab, own_server: ServerProcess, width: int
) -> None:
    tab = await open_tab(on=own_server, width=width)
    page = tab.page
    await expect(page.get_by_text("No sessions yet", exact=True)).to_be_visible()
    await tab.button("Start your first session").click()
    await expect(page.get_by_label("What should it do?")).to_be_focused()
    await page.keyboard.type("Count the herons.")
    await page.keyboard.press("Shift+Enter")
    await page.keyboard.type("Twice.")
    await page.keyboard.press("Enter")

    await expect(page.get_by_role("heading", level=1)).to_have_text("Count the herons.")
    await expect(tab.conversation).to_contain_text("ok: Count the herons.")
    await expect(tab.conversation).to_contain_text("Twice.")
    composer = page.get_by_label("Message", exact=True)
    await expect(composer).to_be_focused()
    await page.keyboard.type("jn?")
    await expect(composer).to_have_value("jn?")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    # Nothing is wider than the screen.
    assert await page.evaluate("document.documentElement.scrollWidth") <= width


async def test_only_agents_that_can_run_here_are_offered_and_the_demo_comes_last(
    client: Client, open_tab: OpenTab
) -> None:
    agents = await client.call("GET", "/agents")
    offered = {agent["title"] for agent in agents if agent["installed"]}
    default = next(agent["driver"] for agent in agents if agent["default"])
    tab = await open_tab()
    await open_form(tab)
    field = tab.page.get_by_label("Agent")
    titles = await field.locator("option").all_inner_texts()
    assert set(titles) == offered
    assert titles[-1] == "Demo (scripted replies)"
    await expect(field).to_have_value(default)


async def test_folders_of_earlier_sessions_are_suggested(
    client: Client, open_tab: OpenTab, tmp_path: Path
) -> None:
    await client.session(cwd=str(tmp_path))
    tab = await open_tab()
    await open_form(tab)
    suggestion = tab.page.locator(f'#new-folders option[value="{tmp_path}"]')
    await expect(suggestion).to_have_count(1)
    await tab.page.get_by_label("Folder").fill(str(tmp_path))
    await tab.page.get_by_label("Agent").select_option("scripted")
    await tab.page.get_by_label("What should it do?").fill("look around")
    await tab.button("Start").click()
    await expect(tab.conversation).to_contain_text("ok: look around")
    session = await client.call("GET", f"/sessions/{session_of(tab)}")
    assert session["cwd"] == str(tmp_path)


async def test_a_folder_that_does_not_exist_is_refused_in_the_form(open_tab: OpenTab) -> None:
    tab = await open_tab()
    tab.expected.append("422")
    await open_form(tab, "look around")
    await tab.page.get_by_label("Folder").fill("/no/such/folder")
    await tab.button("Start").click()
    await expect(tab.page.get_by_role("alert")).to_contain_text("no folder /no/such/folder")
    await expect(tab.page.get_by_label("What should it do?")).to_have_value("look around")


async def test_closing_the_form_keeps_what_was_written(open_tab: OpenTab) -> None:
    tab = await open_tab()
    await open_form(tab, "half a thought")
    await tab.page.keyboard.press("Escape")
    await expect(tab.page.get_by_role("dialog")).to_have_count(0)
    await tab.button("New session").click()
    await expect(tab.page.get_by_label("What should it do?")).to_have_value("half a thought")


async def test_a_text_that_is_refused_is_in_the_composer_of_the_new_session(
    open_tab: OpenTab,
) -> None:
    async def refuse(route: Route) -> None:
        error = {"kind": "limit", "message": "not now", "hint": "later"}
        await route.fulfill(status=409, json={"error": error})

    tab = await open_tab()
    tab.expected.append("409")
    await tab.page.route("**/sessions/*/input", refuse)
    await open_form(tab, "feed the heron")
    await tab.page.keyboard.press("Enter")
    composer = tab.page.get_by_label("Message", exact=True)
    await expect(composer).to_be_focused()
    await expect(composer).to_have_value("feed the heron")

    await tab.page.unroute("**/sessions/*/input")
    await tab.page.keyboard.press("Enter")
    await expect(tab.conversation).to_contain_text("ok: feed the heron")
    await expect(composer).to_have_value("")


async def test_a_text_whose_answer_was_lost_arrives_once(client: Client, open_tab: OpenTab) -> None:
    async def lose_answer(route: Route) -> None:
        await route.fetch()
        await route.abort()

    tab = await open_tab()
    tab.expected.append("ERR_FAILED")
    await tab.page.route("**/sessions/*/input", lose_answer, times=1)
    await open_form(tab, "count to one")
    await tab.page.keyboard.press("Enter")
    await expect(tab.conversation).to_contain_text("ok: count to one")
    await expect(tab.page.get_by_label("Message", exact=True)).to_have_value("")
    texts = [message["content"] for message in await client.messages(session_of(tab))]
    assert texts == ["count to one", "ok: count to one"]


async def test_without_a_model_the_page_says_so_and_the_demo_is_chosen_by_name(
    open_tab: OpenTab, own_servers: ExitStack, tmp_path: Path
) -> None:
    # A PATH without agents.
    settings = {"PATH": str(tmp_path), "NAVI_MODEL": ""}
    server = own_servers.enter_context(ServerProcess(tmp_path / "home", settings=settings))
    tab = await open_tab(on=server)
    await expect(tab.page.get_by_text("No model is set up.")).to_be_visible()
    await open_form(tab, "hello")
    dialog = tab.page.get_by_role("dialog")
    await expect(dialog).to_contain_text("No model is set up.")
    await expect(dialog).to_contain_text("ANTHROPIC_API_KEY")
    await expect(dialog).to_contain_text("install Claude Code or Codex")
    await expect(tab.page.get_by_label("Agent")).to_have_value("")

    await tab.page.get_by_label("Agent").select_option("Demo (scripted replies)")
    await tab.button("Start").click()
    await expect(tab.conversation).to_contain_text("ok: hello")
