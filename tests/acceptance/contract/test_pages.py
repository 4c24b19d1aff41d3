from __future__ import annotations

import re

import httpx2
import pytest

from tests.server import Client, ServerProcess


async def test_the_page_comes_with_a_policy_that_lets_nothing_else_in(client: Client) -> None:
    response = await client.http.get("/")
    assert response.status_code == 200
    assert "/assets/page.js" in response.text
    policy = response.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("path", ["/", "/login"])
async def test_the_page_is_the_same_for_everybody_and_knows_nothing(
    server: ServerProcess, client: Client, path: str
) -> None:
    async with server.stranger() as http:
        page = await http.get(path)
    assert (page.status_code, page.text) == (200, (await client.http.get("/")).text)


async def test_the_address_of_login_links_is_never_cached(server: ServerProcess) -> None:
    async with server.stranger() as http:
        response = await http.get("/login")
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_a_cookie_of_version_0_1_that_holds_the_token_is_deleted(
    server: ServerProcess,
) -> None:
    async with server.stranger() as http:
        response = await http.get("/", headers={"Cookie": "navi_token=secret"})
    deleted = response.headers["set-cookie"].lower()
    assert deleted.startswith('navi_token=""')
    assert "max-age=0" in deleted


async def test_answers_are_neither_cached_nor_taken_for_anything_but_json(client: Client) -> None:
    for path in ("/sessions", "/sessions/none", "/no-such-call"):
        response = await client.http.get(path)
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["x-content-type-options"] == "nosniff"


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


async def test_the_page_can_be_installed_as_an_app(client: Client) -> None:
    page = (await client.http.get("/")).text
    [address] = re.findall(r'rel="manifest" href="([^"]+)"', page)
    manifest = await client.http.get(address)
    assert manifest.headers["content-type"].startswith("application/manifest+json")
    app = manifest.json()
    assert (app["start_url"], app["display"]) == ("/", "standalone")
    # Chromium wants an icon of at least 144 pixels, Android one that fills its shape.
    assert {"192x192", "512x512"} <= {icon["sizes"] for icon in app["icons"]}
    assert "maskable" in [icon.get("purpose") for icon in app["icons"]]
    for icon in app["icons"]:
        file = await client.http.get(icon["src"])
        assert (file.status_code, file.headers["content-type"]) == (200, icon["type"])


async def test_the_documentation_of_this_version_is_served_and_its_links_lead_somewhere(
    server: ServerProcess,
) -> None:
    async with server.stranger() as http:
        pages, links = [httpx2.URL("/docs/")], {}
        while pages:
            page = pages.pop()
            if page.path in links:
                continue
            response = await http.get(page.path)
            assert response.status_code == 200, page
            links[page.path] = re.findall(r'(?:href|src)="([^"]+)"', response.text)
            if response.headers["content-type"].startswith("text/html"):
                pages += [
                    target
                    for target in (page.join(link) for link in links[page.path])
                    if not target.host and target.path != "/"
                ]
    documents = {path for path in links if path.endswith(".md")}
    assert {"/docs/quickstart.md", "/docs/how-to/install.md"} <= documents
    assert len(documents) > 40


async def test_a_page_of_the_documentation_has_a_title_anchors_and_tables(client: Client) -> None:
    response = await client.http.get("/docs/how-to/service.md")
    assert "<title>Keep Navi running · Navi</title>" in response.text
    assert '<h2 id="what-happens-to-agents">' in response.text
    assert "<th>Command</th>" in response.text
    assert "unsafe" not in response.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["nothing.md", "..%2FREADME.md", "%2Fetc%2Fpasswd", "how-to"])
async def test_only_files_of_the_documentation_are_served(client: Client, path: str) -> None:
    assert (await client.http.get(f"/docs/{path}")).status_code == 404
