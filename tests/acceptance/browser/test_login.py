"""Getting in and out: links, tokens, deep links, and a cookie that other servers see."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, expect
from sqlalchemy import Connection, update
from websockets.asyncio.client import connect

from navi.cli.navi.browser import forwarding_page
from navi.live.store.engine import tables
from navi.live.store.engine.transactions import Store
from tests.acceptance.browser.conftest import OpenTab, in_browser
from tests.acceptance.browser.own_user import OwnUser
from tests.acceptance.browser.tab import PATIENCE_MS, Tab
from tests.server import Client, ServerProcess, navi

pytestmark = in_browser


@pytest_asyncio.fixture(loop_scope="session")
async def context(browser: Browser) -> AsyncIterator[BrowserContext]:
    """A browser that is not logged in anywhere."""
    context = await browser.new_context(viewport={"width": 390, "height": 800})
    context.set_default_timeout(PATIENCE_MS)
    yield context
    await context.close()


def link(server: ServerProcess, *options: str) -> str:
    return navi(server, "login", "--no-open", *options)


async def is_in(page: Page) -> None:
    await expect(page.get_by_role("button", name="New session")).to_be_visible()


async def is_out(page: Page) -> None:
    await expect(page.get_by_role("heading", name="not logged in")).to_be_visible()


async def paste(page: Page, token: str) -> None:
    await page.get_by_label("Token").fill(token)
    await page.get_by_role("button", name="Log in").click()


async def test_a_link_logs_in_and_its_code_does_not_stay_in_the_address(
    context: BrowserContext, server: ServerProcess
) -> None:
    page = await context.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    opened = link(server)
    await page.goto(opened)
    await is_in(page)

    assert page.url == f"{server.address}/"
    await page.go_back()
    assert "code" not in page.url
    code = opened.partition("code=")[2]
    assert [url for url in requests if code in url.partition("#")[0]] == []


async def test_the_file_that_is_opened_in_place_of_the_link_forwards_to_it(
    context: BrowserContext, server: ServerProcess, tmp_path: Path
) -> None:
    file = forwarding_page(link(server), tmp_path)
    assert file.stat().st_mode & 0o777 == 0o600
    page = await context.new_page()
    await page.goto(file.as_uri())
    await is_in(page)


async def test_a_used_link_says_so_and_what_to_do(
    context: BrowserContext, browser: Browser, server: ServerProcess
) -> None:
    opened = link(server)
    page = await context.new_page()
    await page.goto(opened)
    await is_in(page)
    # In the browser that is logged in, the link in the terminal may be clicked again.
    again = await context.new_page()
    await again.goto(opened)
    await is_in(again)

    other = await browser.new_context()
    refused = await other.new_page()
    await refused.goto(opened)
    await is_out(refused)
    alert = refused.get_by_role("alert")
    await expect(alert).to_contain_text("This link has expired or was already used. Run")
    await expect(alert).to_contain_text("navi login")
    # The next one is pasted into the same tab.
    await refused.goto(link(server))
    await is_in(refused)
    await other.close()


async def test_a_wrong_token_says_so_and_the_right_one_leads_to_the_deep_link(
    context: BrowserContext, server: ServerProcess, client: Client
) -> None:
    session_id = await client.session(name="deep")
    page = await context.new_page()
    await page.goto(f"{server.address}/#/sessions/{session_id}")
    await is_out(page)
    assert "8420" not in await page.inner_text("body")

    await paste(page, "wrong")
    alert = page.get_by_role("alert")
    await expect(alert).to_contain_text("This token is not valid here. Run")
    await expect(alert).to_contain_text("navi login")

    await paste(page, server.token)
    await expect(page.get_by_role("heading", name="deep")).to_be_visible()
    assert server.token not in page.url


async def test_the_deep_link_survives_a_login_by_link_in_the_same_tab_or_another(
    context: BrowserContext, server: ServerProcess, client: Client
) -> None:
    session_id = await client.session(name="deeper")
    wanted = f"{server.address}/#/sessions/{session_id}"
    waiting, page = await context.new_page(), await context.new_page()
    for each in (waiting, page):
        await each.goto(wanted)
        await is_out(each)

    await page.goto(link(server))

    for each in (waiting, page):
        await expect(each.get_by_role("heading", name="deeper")).to_be_visible()
        assert each.url == wanted


async def test_a_link_for_somebody_else_asks_before_it_changes_who_one_is(
    open_tab: OpenTab, own_server: ServerProcess
) -> None:
    navi(own_server, "user", "add", "ada")
    async with own_server.client() as local:
        await local.session(name="of local")
    tab = await open_tab(on=own_server)
    await expect(tab.page.get_by_text("of local")).to_be_visible()

    await tab.page.goto(link(own_server, "--user", "ada"))
    await expect(tab.page.get_by_role("heading", name="Log in as ada?")).to_be_visible()
    await tab.button("Cancel").click()
    await expect(tab.page.get_by_text("of local")).to_be_visible()

    await tab.page.goto(link(own_server, "--user", "ada"))
    await tab.button("Log in as ada").click()
    await expect(tab.page.get_by_text("No sessions yet", exact=True)).to_be_visible()


async def test_logging_out_ends_the_login_in_all_tabs_of_the_browser(
    open_tab: OpenTab, own_server: ServerProcess, browser: Browser
) -> None:
    tab, elsewhere = await open_tab(on=own_server), await open_tab(on=own_server)
    tab.expected.append("401")  # of a call that was under way
    second = await tab.context.new_page()
    await second.goto(own_server.address)
    await is_in(second)
    kept = await tab.context.storage_state()

    await tab.button("Settings and help").click()
    await expect(tab.page.get_by_text("This browser is logged in as local.")).to_be_visible()
    await tab.button("Log out").click()

    await is_out(tab.page)
    await is_out(second)
    await is_in(elsewhere.page)
    # A copy of everything the browser had no longer works.
    thief = await browser.new_context(storage_state=kept)
    page = await thief.new_page()
    await page.goto(own_server.address)
    await is_out(page)
    await thief.close()


async def test_logging_out_everywhere_ends_the_logins_of_other_browsers(
    open_tab: OpenTab, own_user: OwnUser
) -> None:
    tab, elsewhere = await open_tab(on=own_user), await open_tab(on=own_user)
    for each in (tab, elsewhere):
        each.expected.append("401")
    await is_in(elsewhere.page)
    await tab.button("Settings and help").click()
    await tab.button("Log out everywhere").click()
    await is_out(tab.page)
    await elsewhere.page.reload()
    await is_out(elsewhere.page)


async def test_an_expired_login_asks_again_and_then_goes_on_at_the_same_place(
    open_tab: OpenTab, own_server: ServerProcess
) -> None:
    async with own_server.client() as client:
        session_id = await client.session(name="old")
    tab: Tab = await open_tab(on=own_server)
    await tab.session(session_id)
    await tab.button("old").click()
    await tab.page.get_by_label("Name").fill("other")
    tab.expected.append("401")
    await _expire(own_server)

    await tab.page.keyboard.press("Enter")
    await is_out(tab.page)

    await paste(tab.page, own_server.token)
    await expect(tab.page.get_by_role("heading", name="old")).to_be_visible()


async def test_a_page_without_its_half_of_the_login_asks_for_one(
    open_tab: OpenTab, server: ServerProcess
) -> None:
    tab = await open_tab()
    await is_in(tab.page)
    # The page may still ask for something; and in two steps, it may log out before the reload.
    tab.expected.append("401")
    await tab.page.evaluate("localStorage.clear(); location.reload()")
    await is_out(tab.page)


async def test_a_server_on_another_port_gets_the_cookie_and_can_do_nothing_with_it(
    context: BrowserContext, server: ServerProcess
) -> None:
    page = await context.new_page()
    await page.goto(link(server))
    await is_in(page)

    async with _eavesdropper() as (address, cookies):
        await page.goto(address)
    stolen = {"Cookie": cookies[0]}

    assert "navi_login_" in cookies[0]
    assert server.token not in cookies[0]
    async with httpx2.AsyncClient(
        base_url=server.address, headers=stolen, trust_env=False
    ) as thief:
        for method, path in [
            ("GET", "/sessions"),
            ("POST", "/sessions"),
            ("GET", "/search?q=secret"),
            ("POST", "/mcp"),
            ("POST", "/logout"),
        ]:
            assert (await thief.request(method, path)).status_code == 401, (method, path)
    socket_address = server.address.replace("http", "ws") + "/ws"
    async with connect(socket_address, additional_headers=stolen, proxy=None) as socket:
        await socket.send('{"type": "ping"}')
        assert "not_authenticated" in str(await socket.recv())
    # The browser itself is not affected.
    await page.goto(server.address)
    await is_in(page)


async def test_two_servers_on_one_host_do_not_log_each_other_out(
    context: BrowserContext, server: ServerProcess, own_server: ServerProcess
) -> None:
    page = await context.new_page()
    for each in (server, own_server, server, own_server):
        await page.goto(each.address)
        if await page.evaluate("localStorage.length") == 0:
            await paste(page, each.token)
        await is_in(page)


@asynccontextmanager
async def _eavesdropper() -> AsyncIterator[tuple[str, list[str]]]:
    """Another server on this host, which records the cookies it receives."""
    cookies: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        cookies.extend(
            line.partition(": ")[2]
            for line in request.splitlines()
            if line.lower().startswith("cookie:")
        )
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}", cookies
    finally:
        listening.close()


async def _expire(server: ServerProcess) -> None:
    def change(connection: Connection) -> None:
        long_ago = datetime.now(UTC) - timedelta(days=31)
        connection.execute(update(tables.logins).values(last_used_at=long_ago))

    store = Store(server.database_url)
    store.start()
    await store.transact(change)
    await store.close()
