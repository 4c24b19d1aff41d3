from __future__ import annotations

import http.client
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.acceptance.contract.command_runs import navi
from tests.acceptance.contract.conftest import receive
from tests.server import Client, ServerProcess


@pytest.fixture(scope="session")
def ada_and_bob(server: ServerProcess) -> tuple[str, str]:
    return navi(server, "user", "add", "ada"), navi(server, "user", "add", "bob")


def client_of(server: ServerProcess, token: str) -> Client:
    return Client(server.address, token, 30)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer \xe4".encode("latin-1")},
        {"Authorization": "Basic abc"},
        {"Cookie": "navi_login=wrong"},
        {"Cookie": "navi_login=wrong", "Navi-Page": "wrong"},
        {"Cookie": "a=;;;=b"},
    ],
)
async def test_without_the_right_token_nothing_is_shown(
    server: ServerProcess, headers: dict[str, str]
) -> None:
    async with server.stranger() as stranger:
        response = await stranger.get("/sessions", headers=headers)
    assert response.status_code == 401
    assert response.json()["error"]["kind"] == "not_authenticated"
    assert server.token not in response.text


async def test_the_token_file_is_for_its_owner_only(server: ServerProcess) -> None:
    path = server.home / "navi" / "token"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text().strip() == server.token
    assert path.parent.stat().st_mode & 0o077 == 0


HOSTS = [
    "evil.example",
    "evil.example:80",
    "127.0.0.1.evil.example",
    "[::1].evil.example",
    "127.0.0.1:evil.example",
    "127.0.0.1:80:80",
    "user@127.0.0.1",
    "127.0.0.1 evil.example",
    "",
]


@pytest.mark.parametrize("host", HOSTS)
async def test_a_foreign_host_is_refused(client: Client, host: str) -> None:
    response = await client.http.get("/sessions", headers={"Host": host})
    assert response.status_code in (400, 403)


def origins_like(address: str) -> list[str]:
    return [
        "http://evil.example",
        "null",
        "",
        "http://127.0.0.1:1",
        address.replace("http", "https"),
        address.replace("http", "ftp"),
        f"{address}/",
        f"{address}.evil.example",
    ]


async def test_a_foreign_origin_is_refused(client: Client) -> None:
    for origin in origins_like(client.address):
        response = await client.http.post("/sessions", headers={"Origin": origin})
        assert response.status_code == 403, origin
        with pytest.raises(InvalidStatus) as refusal:
            await connect(
                client.address.replace("http", "ws") + "/ws",
                additional_headers={**client.headers, "Origin": origin},
                proxy=None,
            )
        assert refusal.value.response.status_code == 403, origin


@pytest.mark.parametrize("twice", ["Host", "Origin"])
async def test_a_header_that_is_sent_twice_is_refused(client: Client, twice: str) -> None:
    place = urlsplit(client.address)
    own = {"Host": place.netloc, "Origin": client.address}
    connection = http.client.HTTPConnection(place.netloc)
    connection.putrequest("GET", "/health", skip_host=True)
    for name in ("Host", "Origin", twice):
        connection.putheader(name, own[name])
    connection.endheaders()
    assert connection.getresponse().status in (400, 403)
    connection.close()


async def test_behind_a_proxy_with_tls_the_origin_is_https(client: Client) -> None:
    origin = {"Origin": client.address.replace("http", "https")}
    forwarded = {**origin, "X-Forwarded-Proto": "https"}
    assert (await client.http.get("/sessions", headers=forwarded)).status_code == 200
    refused = await client.http.get("/sessions", headers=origin)
    assert "X-Forwarded-Proto: https" in refused.json()["error"]["hint"]


async def test_the_own_origin_is_welcome(client: Client) -> None:
    response = await client.http.get("/sessions", headers={"Origin": client.address})
    assert response.status_code == 200


async def test_users_see_and_touch_only_their_own_sessions(
    server: ServerProcess, client: Client, ada_and_bob: tuple[str, str]
) -> None:
    async with client_of(server, ada_and_bob[0]) as ada, client_of(server, ada_and_bob[1]) as bob:
        hers = await ada.session()
        assert hers in [session["id"] for session in await ada.call("GET", "/sessions")]
        assert hers not in [session["id"] for session in await bob.call("GET", "/sessions")]
        for method, path in [
            ("GET", f"/sessions/{hers}"),
            ("DELETE", f"/sessions/{hers}"),
            ("GET", f"/sessions/{hers}/messages"),
            ("GET", f"/sessions/{hers}/reminders"),
            ("POST", f"/sessions/{hers}/stop"),
            ("POST", f"/sessions/{hers}/kill"),
        ]:
            await bob.call(method, path, expect=403)
        await bob.call("POST", f"/sessions/{hers}/input", {"text": "hi"}, expect=403)
        async with bob.watch(hers) as socket:
            assert (await receive(socket))["kind"] == "not_allowed"
        # The server's own user is an admin.
        assert (await client.call("GET", f"/sessions/{hers}"))["user_id"] == "ada"


async def test_users_see_and_cancel_only_their_own_reminders(
    server: ServerProcess, client: Client, ada_and_bob: tuple[str, str]
) -> None:
    async with client_of(server, ada_and_bob[0]) as ada, client_of(server, ada_and_bob[1]) as bob:
        hers = await ada.session()
        body = {"session_id": hers, "delay_seconds": 600, "message": "the build"}
        once = (await ada.call("POST", "/scheduler/remind", body))["reminder_id"]
        periodic = (await ada.call("POST", f"/sessions/{hers}/remind", {}))["id"]

        for path in ("/reminders", f"/sessions/{hers}/reminders"):
            listed = await ada.call("GET", path)
            assert [(each["id"], each["kind"]) for each in listed] == [
                (periodic, "periodic"),
                (once, "once"),
            ]
        assert await bob.call("GET", "/reminders") == []
        await bob.call("DELETE", f"/scheduler/remind/{once}", expect=403)
        # The server's own user is an admin.
        assert once in [each["id"] for each in await client.call("GET", "/reminders")]


async def test_the_general_socket_shows_a_user_only_their_own(
    server: ServerProcess, ada_and_bob: tuple[str, str]
) -> None:
    async with client_of(server, ada_and_bob[0]) as ada, client_of(server, ada_and_bob[1]) as bob:
        async with bob.watch(after=0) as socket:
            await ada.session()
            his = await bob.session()
            while (frame := await receive(socket))["session_id"] != his:
                assert frame["session"]["user_id"] == "bob"


async def test_a_removed_user_is_locked_out_at_once(server: ServerProcess) -> None:
    token = navi(server, "user", "add", "eve")
    async with client_of(server, token) as eve:
        await eve.call("GET", "/sessions")
        async with eve.watch() as socket:
            await socket.send('{"type": "ping"}')
            assert (await receive(socket))["type"] == "pong"
            navi(server, "user", "remove", "eve", "--yes")
            await eve.call("GET", "/sessions", expect=401)
            await socket.send('{"type": "ping"}')
            assert (await receive(socket))["kind"] == "not_authenticated"


async def test_the_page_is_served_with_a_strict_policy(server: ServerProcess) -> None:
    async with server.stranger() as browser:
        page = await browser.get("/")
        assert "default-src 'self'" in page.headers["content-security-policy"]
        for missing in ("/assets/none.js", "/assets/..%2f__init__.py", "/assets/py.typed"):
            assert (await browser.get(missing)).status_code == 404
