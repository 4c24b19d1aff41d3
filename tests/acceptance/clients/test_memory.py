"""What is said anywhere on the machine can be searched from everywhere, without anybody indexing.

How many seconds that took is printed (`pytest -s`).
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.acceptance.browser.chromium import chromium
from tests.acceptance.browser.tab import Tab
from tests.acceptance.clients.conftest import World
from tests.acceptance.contract.mcp import ask
from tests.acceptance.contract.mcp import request as rpc
from tests.server import Client
from tests.waiting import eventually

pytestmark = pytest.mark.proof

Look = Callable[[str], Awaitable[bool]]


@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
async def test_what_agents_say_is_found_by_command_page_and_tool(
    world: World, store: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    settings = {"NAVI_INDEX_FOLLOW": "true"}
    if store == "postgresql":
        settings["NAVI_DATABASE_URL"] = request.getfixturevalue("postgres").create_database()
    world.serve(**settings)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(world.client())
        tab = await stack.enter_async_context(opened_tab(world, tmp_path))
        session_id = await client.session()
        looks: Sequence[Look] = [
            lambda word: found_by_command(world, word),
            lambda word: found_by_tool(client, session_id, word),
            lambda word: found_on_page(tab, word),
        ]

        await world.turn(client, session_id, "[[say: the quokka smiles]]")
        await wait_until_found("quokka", looks)

        await run(world, "claude", "-p", "[[say: the wombat digs]]")
        await wait_until_found("wombat", looks)

        await run(world, "codex", "exec", "--skip-git-repo-check", "[[say: the numbat listens]]")
        await wait_until_found("numbat", looks)


async def wait_until_found(word: str, looks: Sequence[Look]) -> None:
    """Wait until every search finds it."""
    started = time.monotonic()
    await asyncio.gather(*(eventually(partial(look, word), f"{word} is found") for look in looks))
    sys.stderr.write(f"{word} is found everywhere after {time.monotonic() - started:.1f} s\n")


async def found_by_command(world: World, word: str) -> bool:
    command = [sys.executable, "-m", "navi.cli.recall.main", "search", word, "--json"]
    done = await asyncio.create_subprocess_exec(
        *command, env=world.server.environment, stdout=subprocess.PIPE
    )
    output, _ = await done.communicate()
    assert done.returncode == 0
    return bool(json.loads(output))


async def found_by_tool(client: Client, session_id: str, word: str) -> bool:
    call = {"name": "search_sessions", "arguments": {"query": word}}
    answer = await ask(client, rpc(1, "tools/call", call), session_id)
    return f"the {word}" in answer["result"]["content"][0]["text"]


async def found_on_page(tab: Tab, word: str) -> bool:
    """Typed once: the page repeats the search when the index changes."""
    box = tab.page.get_by_label("Search all sessions")
    if await box.count() == 0:
        await tab.button("Search").click()
    if await box.input_value() != word:
        await box.fill(word)
    return await tab.page.get_by_role("dialog").locator("mark", has_text=word).count() > 0


async def run(world: World, *command: str) -> None:
    """A person's own client in a folder, without Navi."""
    environment = {**world.server.environment, "HOME": str(world.home)}
    process = await asyncio.create_subprocess_exec(
        *command,
        env=environment,
        cwd=world.work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    output, errors = await process.communicate()
    assert process.returncode == 0, (output + errors).decode()


@asynccontextmanager
async def opened_tab(world: World, tmp_path: Path) -> AsyncIterator[Tab]:
    async with chromium(tmp_path / "browser") as browser:
        tab = await Tab.open(browser, world.server, "", 1280)
        try:
            yield tab
            assert tab.problems == []
        finally:
            await tab.close()
