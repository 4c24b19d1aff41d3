"""The server's token: how it is replaced, and where it must not be seen."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.acceptance.contract.command_runs import navi
from tests.acceptance.contract.conftest import receive
from tests.server import NAVI, READY, Client, ServerProcess


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path / "own", settings={"NAVI_MODEL": "scripted"}) as server:
        yield server


@pytest.mark.proof
async def test_a_running_server_takes_the_rotated_token_and_refuses_the_old_one(
    own_server: ServerProcess,
) -> None:
    async with own_server.stranger() as browser:
        made = await browser.post("/login", json={"token": own_server.token})
        page = {"Navi-Page": made.json()["page_secret"]}
        unused = parse_qs(urlsplit(navi(own_server, "login", "--no-open")).fragment)
        assert (await browser.get("/sessions", headers=page)).status_code == 200
        async with own_server.client() as client, client.watch() as socket:
            navi(own_server, "token", "rotate")

            await client.call("GET", "/sessions", expect=401)
            await socket.send('{"type": "ping"}')
            assert (await receive(socket))["kind"] == "not_authenticated"
        assert (await browser.get("/sessions", headers=page)).status_code == 401
        link = {name: values[0] for name, values in unused.items()}
        assert (await browser.post("/login", json=link)).status_code == 401
    token = (own_server.home / "navi" / "token").read_text().strip()
    async with Client(own_server.address, token, 30) as client:
        await client.call("GET", "/sessions")


def test_the_person_who_starts_the_server_at_a_terminal_gets_a_link_and_no_token(
    tmp_path: Path,
) -> None:
    """Nor does the browser that is opened get either on its command line."""
    home, arguments = tmp_path / "navi", tmp_path / "arguments"
    os.mkfifo(arguments)
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {arguments}\n')
    browser.chmod(0o700)
    outer, inner = pty.openpty()
    environment = {
        **os.environ,
        "NAVI_HOME": str(home),
        "NAVI_MODEL": "scripted",
        "NAVI_INDEX_FOLLOW": "false",
        "DISPLAY": ":9",
        "BROWSER": str(browser),
    }
    command = [*NAVI, "serve", "--port", "0", "--verbose"]
    process = subprocess.Popen(
        command, env=environment, stdin=inner, stdout=inner, stderr=subprocess.PIPE, text=True
    )
    os.close(inner)
    try:
        with os.fdopen(outer) as terminal:
            line = terminal.readline().strip()
        opened = arguments.read_text().strip()
    finally:
        process.kill()
        _, errors = process.communicate()
    token = (home / "token").read_text().strip()
    link = line.removeprefix(READY)
    code = link.partition("code=")[2]

    assert "/login#user=local&code=" in link
    page = home / "open-page.html"
    assert opened == page.as_uri()
    assert page.stat().st_mode & 0o777 == 0o600
    assert code in page.read_text()
    assert token not in line + errors + page.read_text()


async def test_a_server_without_a_terminal_prints_its_address_and_no_link(
    own_server: ServerProcess,
) -> None:
    assert urlsplit(own_server.address).path == urlsplit(own_server.address).fragment == ""
    assert "`navi login` prints a link" in own_server.log()


async def test_neither_token_nor_code_gets_into_the_log(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "own") as server:
        link = navi(server, "login", "--no-open")
        code = link.partition("code=")[2]
        async with server.stranger() as browser:
            made = await browser.post("/login", json={"user": "local", "code": code})
            page = {"Navi-Page": made.json()["page_secret"]}
            await browser.post("/login", json={"token": server.token})
            await browser.get("/nowhere", headers=page)
            await browser.get(f"/login?token={server.token}")
        server.stop()
        secrets = [server.token, code, made.json()["page_secret"]]
        assert [secret for secret in secrets if secret in server.log()] == []


@pytest.mark.parametrize("token", ["a", "nineteen-characters"])
def test_a_server_with_a_token_that_can_be_guessed_does_not_start(token: str) -> None:
    finished = subprocess.run(
        [*NAVI, "serve", "--no-open", "--port", "0"],
        env={**os.environ, "NAVI_TOKEN": token},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert finished.returncode == 2
    assert "NAVI_TOKEN" in finished.stderr
    assert "hint: use 20 or more" in finished.stderr
