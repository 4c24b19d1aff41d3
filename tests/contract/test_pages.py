from __future__ import annotations

import httpx2
import pytest

from tests.server import Client, ServerProcess

PAGE = {"Accept": "text/html,application/xhtml+xml"}


def stranger(server: ServerProcess) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=server.address, trust_env=False)


async def test_the_page_comes_with_a_policy_that_lets_nothing_else_in(client: Client) -> None:
    response = await client.http.get("/")
    assert response.status_code == 200
    assert "/assets/page.js" in response.text
    policy = response.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("headers", [{}, {"Cookie": "navi_token=wrong"}])
async def test_a_stranger_is_told_how_to_get_in(
    server: ServerProcess, headers: dict[str, str]
) -> None:
    async with stranger(server) as http:
        response = await http.get("/", headers=headers)
    assert response.status_code == 401
    assert "navi serve" in response.text
    assert server.token not in response.text


async def test_a_wrong_link_shows_a_page_to_a_browser_and_json_to_a_program(
    server: ServerProcess,
) -> None:
    async with stranger(server) as http:
        shown = await http.get("/login?token=wrong", headers=PAGE)
        said = await http.get("/login?token=wrong")
    assert (shown.status_code, said.status_code) == (401, 401)
    assert "navi serve" in shown.text
    assert said.json()["error"]["kind"] == "not_authenticated"


async def test_an_asset_that_did_not_change_is_not_sent_again(client: Client) -> None:
    first = await client.http.get("/assets/page.js")
    assert (first.status_code, first.headers["content-encoding"]) == (200, "gzip")
    again = await client.http.get(
        "/assets/page.js", headers={"If-None-Match": first.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("name", ["nothing.js", "..%2Findex.html", "%2Fetc%2Fpasswd", "page.exe"])
async def test_only_the_files_of_the_page_are_served(client: Client, name: str) -> None:
    assert (await client.http.get(f"/assets/{name}")).status_code == 404
