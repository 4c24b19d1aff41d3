"""Browsers: how they log in, what their cookie allows, and how a login ends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from sqlalchemy import Connection, update
from websockets.asyncio.client import connect

from navi.live.store.engine import tables
from navi.live.store.engine.transactions import Store
from tests.acceptance.contract.command_runs import navi
from tests.acceptance.contract.conftest import receive
from tests.server import ServerProcess


@dataclass
class Browser:
    """A browser that keeps its cookie, with a page that keeps its secret."""

    http: httpx2.AsyncClient
    page_secret: str = ""

    async def log_in(self, **body: str) -> httpx2.Response:
        response = await self.http.post("/login", json=body, headers=self._page())
        if response.status_code == 200:
            self.page_secret = response.json()["page_secret"]
        return response

    async def status(self, method: str = "GET", path: str = "/sessions") -> int:
        return (await self.http.request(method, path, headers=self._page())).status_code

    async def log_out(self, **body: bool) -> Any:
        return (await self.http.post("/logout", json=body, headers=self._page())).json()

    def cookie(self) -> dict[str, str]:
        [(name, value)] = self.http.cookies.items()
        return {"Cookie": f"{name}={value}"}

    def _page(self) -> dict[str, str]:
        return {"Navi-Page": self.page_secret} if self.page_secret else {}


@pytest.fixture
async def browser(server: ServerProcess) -> AsyncIterator[Browser]:
    async with server.stranger() as http:
        yield Browser(http)


@pytest.fixture
async def other_browser(server: ServerProcess) -> AsyncIterator[Browser]:
    async with server.stranger() as http:
        yield Browser(http)


def login_link(server: ServerProcess, *options: str) -> dict[str, str]:
    """What the page reads from the link that `navi login` prints."""
    link = urlsplit(navi(server, "login", "--no-open", *options))
    assert f"{link.scheme}://{link.netloc}{link.path}" == f"{server.address}/login"
    assert link.query == ""
    return {name: values[0] for name, values in parse_qs(link.fragment).items()}


async def test_a_token_logs_a_browser_in_and_is_not_in_the_cookie(
    server: ServerProcess, browser: Browser
) -> None:
    response = await browser.log_in(token=f" {server.token}\n")

    assert response.json()["user_id"] == "local"
    cookie = response.headers["set-cookie"]
    assert server.token not in cookie
    assert f"navi_login_{urlsplit(server.address).port}=" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Secure" not in cookie
    assert await browser.status() == 200


async def test_behind_tls_the_cookie_is_secure(server: ServerProcess, browser: Browser) -> None:
    headers = {"X-Forwarded-Proto": "https", "Host": "127.0.0.1"}
    body = {"token": server.token}
    response = await browser.http.post("/login", json=body, headers=headers)
    assert "Secure" in response.headers["set-cookie"]
    assert response.headers["set-cookie"].startswith("navi_login=")


async def test_neither_half_of_a_login_is_of_any_use_alone(
    server: ServerProcess, browser: Browser
) -> None:
    await browser.log_in(token=server.token)
    cookie, page = browser.cookie(), {"Navi-Page": browser.page_secret}
    for halves in (cookie, page, {**cookie, "Navi-Page": "guessed"}, {**page, "Cookie": "a=b"}):
        async with server.stranger() as http:
            for method, path in [
                ("GET", "/sessions"),
                ("POST", "/sessions"),
                ("GET", "/search?q=a"),
                ("POST", "/mcp"),
                ("POST", "/logout"),
            ]:
                response = await http.request(method, path, headers=halves)
                assert response.status_code == 401, (method, path)
    assert await browser.status() == 200


async def test_a_socket_needs_both_halves_too(server: ServerProcess, browser: Browser) -> None:
    await browser.log_in(token=server.token)
    cookie = browser.cookie()

    async with _socket(server, cookie, ["navi", f"navi.page.{browser.page_secret}"]) as socket:
        assert socket.subprotocol == "navi"
        await socket.send('{"type": "ping"}')
        assert (await receive(socket))["type"] == "pong"
        await browser.log_out()
        await socket.send('{"type": "ping"}')
        assert (await receive(socket))["kind"] == "not_authenticated"
    async with _socket(server, cookie, ["navi", "navi.page.guessed"]) as socket:
        assert (await receive(socket))["kind"] == "not_authenticated"
    async with _socket(server, cookie, None) as socket:
        await socket.send('{"type": "ping"}')
        assert (await receive(socket))["kind"] == "not_authenticated"


@pytest.mark.parametrize("odd", ['prefs={"a": [1, 2]}', "a=b c", "a[b]=c", "a/b=c", "flag", '"='])
async def test_odd_cookies_of_other_servers_of_the_host_do_no_harm(
    server: ServerProcess, browser: Browser, odd: str
) -> None:
    await browser.log_in(token=server.token)
    both = {"Cookie": f"{odd}; {browser.cookie()['Cookie']}", "Navi-Page": browser.page_secret}
    async with server.stranger() as http:
        assert (await http.get("/sessions", headers=both)).status_code == 200


def _socket(server: ServerProcess, cookie: dict[str, str], offered: Any) -> connect:
    address = server.address.replace("http://", "ws://") + "/ws"
    return connect(address, additional_headers=cookie, subprotocols=offered, proxy=None)


async def test_a_link_works_once(
    server: ServerProcess, browser: Browser, other_browser: Browser
) -> None:
    link = login_link(server)
    assert link["user"] == "local"

    assert (await browser.log_in(**link)).status_code == 200
    refused = await other_browser.log_in(**link)

    assert refused.status_code == 401
    assert refused.json()["error"]["message"] == "this link has expired or was already used"
    assert "navi login" in refused.json()["error"]["hint"]
    assert await browser.status() == 200


async def test_a_link_expires(server: ServerProcess, browser: Browser) -> None:
    link = login_link(server)
    past = datetime.now(UTC) - timedelta(seconds=1)
    await _change(server, update(tables.login_codes).values(expires_at=past))
    assert (await browser.log_in(**link)).status_code == 401


async def test_a_link_logs_in_nobody_but_the_user_it_names(
    server: ServerProcess, browser: Browser
) -> None:
    navi(server, "user", "add", "fay")
    link = login_link(server, "--user", "fay")
    assert (await browser.log_in(code=link["code"], user="local")).status_code == 401
    assert (await browser.log_in(**link)).json()["user_id"] == "fay"


async def test_a_login_that_is_not_used_for_long_expires(
    server: ServerProcess, browser: Browser
) -> None:
    await browser.log_in(token=server.token)
    for days, status in ((29, 200), (31, 401)):
        used_at = datetime.now(UTC) - timedelta(days=days)
        await _change(server, update(tables.logins).values(last_used_at=used_at))
        assert await browser.status() == status


async def test_logging_out_ends_this_login_and_everywhere_all_of_them(
    server: ServerProcess, browser: Browser, other_browser: Browser
) -> None:
    await browser.log_in(token=server.token)
    await other_browser.log_in(token=server.token)

    assert await browser.log_out() == {"ended": 1}
    assert (await browser.status(), await other_browser.status()) == (401, 200)

    await browser.log_in(token=server.token)
    unused = login_link(server)
    assert (await other_browser.log_out(everywhere=True))["ended"] >= 2
    assert (await browser.status(), await other_browser.status()) == (401, 401)
    assert (await browser.log_in(**unused)).status_code == 401


async def test_logging_out_everywhere_leaves_other_users_logged_in(
    server: ServerProcess, browser: Browser, other_browser: Browser
) -> None:
    await browser.log_in(token=server.token)
    await other_browser.log_in(token=navi(server, "user", "add", "gus"))
    await other_browser.log_out(everywhere=True)
    assert (await browser.status(), await other_browser.status()) == (200, 401)


async def test_logging_in_again_ends_the_login_before(
    server: ServerProcess, browser: Browser, other_browser: Browser
) -> None:
    await browser.log_in(token=server.token)
    other_browser.http.cookies.update(browser.http.cookies)
    other_browser.page_secret = browser.page_secret
    assert await other_browser.status() == 200

    await browser.log_in(token=server.token)

    assert (await browser.status(), await other_browser.status()) == (200, 401)


async def test_a_login_ends_with_the_token_it_was_made_with(
    server: ServerProcess, browser: Browser
) -> None:
    await browser.log_in(token=navi(server, "user", "add", "hal"))
    unused = login_link(server, "--user", "hal")
    new = navi(server, "user", "token", "hal")
    assert await browser.status() == 401
    assert (await browser.log_in(**unused)).status_code == 401
    await browser.log_in(token=new)
    assert await browser.status() == 200
    navi(server, "user", "remove", "hal", "--yes")
    assert await browser.status() == 401
    navi(server, "user", "add", "hal")
    assert await browser.status() == 401


async def test_the_commands_list_logins_and_end_them(
    server: ServerProcess, browser: Browser, other_browser: Browser
) -> None:
    await browser.log_in(token=navi(server, "user", "add", "ida"))
    await other_browser.log_in(token=server.token)
    listed = navi(server, "login", "--list").splitlines()
    assert "ida" in [line.split()[0] for line in listed]
    assert "local" in [line.split()[0] for line in listed]

    navi(server, "logout", "--user", "ida")
    assert (await browser.status(), await other_browser.status()) == (401, 200)
    assert "ida" not in navi(server, "login", "--list")
    navi(server, "logout", "--all")
    assert await other_browser.status() == 401


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_a_login_that_another_site_causes_is_refused(
    server: ServerProcess, browser: Browser, site: str
) -> None:
    headers = {"Sec-Fetch-Site": site}
    body = {"token": server.token}
    response = await browser.http.post("/login", json=body, headers=headers)
    assert response.status_code == 403
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize("body", ["{}", '{"code": "a"}', '{"token": 1}', "token=a", "[]"])
async def test_a_login_without_token_or_code_is_refused(browser: Browser, body: str) -> None:
    response = await browser.http.post("/login", content=body)
    assert response.status_code == 422


async def test_a_stranger_can_send_no_large_login(browser: Browser) -> None:
    assert (await browser.log_in(token="a" * 20_000)).status_code == 413


async def test_a_wrong_token_is_told_apart_from_a_used_link(browser: Browser) -> None:
    refused = (await browser.log_in(token="wrong")).json()["error"]
    assert refused["message"] == "this token is not valid here"
    assert "navi login" in refused["hint"]


async def test_a_login_begins_no_other_login(server: ServerProcess, browser: Browser) -> None:
    await browser.log_in(token=server.token)
    [(_, cookie)] = browser.http.cookies.items()
    async with server.stranger() as http:
        response = await http.post("/login", json={"token": f"{cookie}.{browser.page_secret}"})
    assert response.status_code == 401


async def _change(server: ServerProcess, statement: Any) -> None:
    def change(connection: Connection) -> None:
        connection.execute(statement)

    store = Store(server.database_url)
    store.start()
    await store.transact(change)
    await store.close()
