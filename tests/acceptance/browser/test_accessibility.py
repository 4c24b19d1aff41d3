"""Everyone can use the page: with a keyboard, a screen reader, weak eyes or a fingertip."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal

import pytest
import pytest_asyncio
from playwright.async_api import Browser, ViewportSize, expect

from navi import __version__
from tests.acceptance.browser.axe import violations
from tests.acceptance.browser.conftest import OpenTab, in_browser, private_settings
from tests.acceptance.browser.login import logged_in
from tests.acceptance.browser.tab import PATIENCE_MS
from tests.acceptance.browser.views import views
from tests.acceptance.contract.conftest import finished
from tests.memory_world import World
from tests.server import Client, ServerProcess

pytestmark = [in_browser, pytest.mark.proof]

ANSWER = """[[say: Three of **four** steps:

```python
def parse(day: str) -> int:
    return len(day) + 1  # one more
```

| step | passed |
|---|---:|
| unit | 812 |

Done.]]"""

SMALL_TARGETS = """() => [...document.querySelectorAll(
        `button, select, textarea, a.back, label:has(> input),
        input:not([type=checkbox], [type=radio])`
    )]
    .filter((each) => each.checkVisibility())
    .map((each) => [each.getBoundingClientRect(), each.outerHTML.slice(0, 120)])
    .filter(([box]) => box.width > 1 && (box.height < 43.9 || box.width < 43.9))
    .map(([box, html]) => `${Math.round(box.width)} x ${Math.round(box.height)}: ${html}`)"""
"""What is too small for a fingertip."""
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


@dataclass(frozen=True)
class House:
    server: ServerProcess
    session_id: str


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """A server with a memory, and a session in which everything happened that a view can show."""
    home = tmp_path_factory.mktemp("house")
    with ServerProcess(home, settings=private_settings(home)) as server:
        yield House(server, await furnish(server))


async def furnish(server: ServerProcess) -> str:
    (server.home / "claude").symlink_to(server.home / ".claude")
    file = World(server.home).file("quilt", "attic").say("mend the quilt", "user")
    for number in range(5):
        file.run(f"cat patch-{number}")
    file.say("The quilt is mended.", "assistant")
    async with server.client() as client:
        session_id = await client.session(name="furnished")
        calls = " ".join(f"[[bash: echo {number}]]" for number in range(4))
        await client.say(session_id, f"[[think: I count.]] {calls} {ANSWER}")
        await finished(client, session_id)
        await client.say(session_id, "[[fail: the model is gone]]")
        await finished(client, session_id, turns=2)
        automation = {"name": "hourly", "message": "look", "every_seconds": 3600}
        path = f"/sessions/{session_id}/automations"
        await client.call("POST", path, automation, expect=201)
        recall = {"call_type": "once", "when": "3h", "additional_context_message": "look"}
        await client.call("POST", f"/sessions/{session_id}/recall", recall, expect=201)
    command = [sys.executable, "-m", "navi.cli.recall.main", "index"]
    subprocess.run(command, env=server.environment, check=True, capture_output=True)  # noqa: ASYNC221
    return session_id


@pytest.mark.parametrize("width", [1280, 1024, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_in_any_view(
    house: House, open_tab: OpenTab, scheme: Literal["light", "dark"], width: int
) -> None:
    tab = await open_tab(on=house.server, width=width)
    await tab.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    problems = {}
    async for view in views(tab, house.session_id, "quilt"):
        if complaints := await violations(tab.page):
            problems[view] = complaints
    assert problems == {}, json.dumps(problems, indent=2)


async def test_on_a_phone_everything_fits_and_can_be_pressed_with_a_fingertip(
    house: House, open_tab: OpenTab
) -> None:
    tab = await open_tab(on=house.server, width=390)
    problems = {}
    async for view in views(tab, house.session_id, "quilt"):
        small = await tab.page.evaluate(SMALL_TARGETS)
        overflow = await tab.page.evaluate(
            """() => [document.documentElement, ...document.querySelectorAll("dialog, aside")]
                .filter((each) => each.scrollWidth > each.clientWidth)
                .map((each) => `${each.tagName} is ${each.scrollWidth} wide`)"""
        )
        if small or overflow:
            problems[view] = [*small, *overflow]
    assert problems == {}, json.dumps(problems, indent=2)


@pytest.mark.parametrize("size", [(390, 700), (1024, 768), (1280, 600)])
async def test_the_buttons_of_a_long_form_stay_in_sight(
    house: House, open_tab: OpenTab, size: tuple[int, int]
) -> None:
    tab = await open_tab(on=house.server, width=size[0])
    await tab.page.set_viewport_size(ViewportSize(width=size[0], height=size[1]))
    async for view in views(tab, house.session_id, "quilt"):
        if view == "automation":
            await expect(tab.button("Add automation")).to_be_in_viewport(ratio=1)
            return


async def test_on_a_touch_screen_enter_starts_a_line_and_the_button_sends(
    client: Client, browser: Browser, server: ServerProcess
) -> None:
    session_id = await client.session(name="touched")
    context = await browser.new_context(
        viewport={"width": 390, "height": 800},
        is_mobile=True,
        has_touch=True,
        storage_state=await logged_in(server),
    )
    context.set_default_timeout(PATIENCE_MS)
    page = await context.new_page()
    await page.goto(f"{server.address}/#/sessions/{session_id}")
    field = page.get_by_label("Message", exact=True)
    await field.tap()
    await page.keyboard.type("[[say: two]]")
    await page.keyboard.press("Enter")
    await page.keyboard.type("lines")
    await expect(field).to_have_value("[[say: two]]\nlines")
    await page.get_by_role("button", name="Send").tap()
    await expect(page.locator(".markdown")).to_have_text("two")
    await context.close()


async def test_the_keyboard_reaches_the_content_in_two_presses(
    house: House, open_tab: OpenTab
) -> None:
    tab = await open_tab(f"#/sessions/{house.session_id}", on=house.server)
    page = tab.page
    await page.locator("[data-session]").first.wait_for()
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("main")).to_be_focused()
    # The link does not lead away from the session.
    assert page.url.endswith(house.session_id)
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("main").locator(":focus")).to_have_count(1)


async def test_a_theme_can_be_chosen_and_is_kept(open_tab: OpenTab) -> None:
    tab = await open_tab()
    page = tab.page
    await page.emulate_media(color_scheme="light")
    await tab.button("Settings and help").click()
    await expect(page.get_by_role("dialog")).to_contain_text(f"Navi {__version__}.")
    light = await page.evaluate(BACKGROUND)
    await page.get_by_label("Dark").check()
    dark = await page.evaluate(BACKGROUND)
    assert dark != light
    await page.reload()
    assert await page.evaluate(BACKGROUND) == dark
    await tab.button("Settings and help").click()
    await page.get_by_label("System").check()
    assert await page.evaluate(BACKGROUND) == light
