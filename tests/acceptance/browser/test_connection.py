"""Lost connections, restarted servers: no message is lost or repeated."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import expect

from tests.acceptance.browser.conftest import OpenTab, in_browser
from tests.acceptance.browser.proxy import Proxy
from tests.server import ServerProcess

pytestmark = in_browser

BROKEN = ["WebSocket", "ERR_", "Failed to load resource"]
WORDS = [f"word{number}" for number in range(150)]
STREAM = " ".join(f"[[say: {word} ]] [[sleep: 0.02]]" for word in WORDS)


@pytest.mark.proof
async def test_a_stream_that_is_cut_again_and_again_arrives_whole_and_once(
    open_tab: OpenTab, own_server: ServerProcess
) -> None:
    async with Proxy(own_server) as proxy, own_server.client() as client:
        session_id = await client.session(name="cut")
        tab = await open_tab(on=proxy)
        tab.expected += BROKEN
        await tab.session(session_id)
        await client.say(session_id, STREAM)
        text = tab.page.locator(".markdown")
        for number in (10, 60, 110):
            await expect(text).to_contain_text(WORDS[number])
            proxy.cut()
            await asyncio.sleep(0.3)
            proxy.mend()
        await expect(text).to_contain_text(WORDS[-1])
        await expect(tab.button("Stop")).to_be_hidden()
        assert (await text.inner_text()).split() == WORDS
        # A short interruption is not reported.
        await expect(tab.page.get_by_text("can't be reached")).to_have_count(0)


async def test_a_server_that_is_killed_and_started_again_is_found_again(
    open_tab: OpenTab, own_server: ServerProcess
) -> None:
    async with Proxy(own_server) as proxy:
        async with own_server.client() as client:
            session_id = await client.session(name="killed")
        tab = await open_tab(on=proxy)
        tab.expected += BROKEN
        await tab.session(session_id)
        await tab.send("[[say: before the crash]] [[sleep: 600]]")
        await expect(tab.page.locator(".markdown")).to_have_text("before the crash")
        own_server.kill()
        await expect(tab.page.get_by_text("can't be reached")).to_be_visible()
        # Messages sent meanwhile wait, and arrive once.
        await tab.send("[[say: after the crash]]")
        await expect(tab.page.get_by_text("sending…")).to_be_visible()
        own_server.start()
        await expect(tab.page.get_by_text("can't be reached")).to_be_hidden()
        await expect(tab.page.locator(".markdown").last).to_have_text("after the crash")
        await expect(tab.page.locator("p.error")).to_contain_text("Failed")
        async with own_server.client() as client:
            prompts = [
                m["content"] for m in await client.messages(session_id) if m["role"] == "user"
            ]
        assert len(prompts) == 2
