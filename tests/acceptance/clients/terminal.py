"""A person who runs an agent in their own terminal."""

from __future__ import annotations

import asyncio
import shlex
from typing import Any

from tests.acceptance.clients.conftest import World
from tests.server import Client
from tests.waiting import eventually

COMMANDS = {
    "claude_code": ["claude"],
    "codex": ["codex", "--no-daemon", "--dangerously-bypass-hook-trust"],
}


PANE = "=person:"


class Terminal:
    """A person at their own terminal, which Navi did not start."""

    def __init__(self, world: World, driver: str, *resume: str) -> None:
        self._world = world
        environment = {
            **world.environment,
            "HOME": str(world.home),
            "LANG": "C.UTF-8",
            "NAVI_HOME": str(world.home / "navi"),
        }
        words = [f"{name}={value}" for name, value in environment.items()]
        inside = f"exec env -i TERM=$TERM {shlex.join([*words, *COMMANDS[driver], *resume])}"
        size = ("-x", "200", "-y", "50")
        world.tmux("new-session", "-d", "-s", "person", *size, "-c", str(world.work), inside)

    async def shows(self, text: str) -> None:
        await eventually(lambda: text in self._world.tmux("capture-pane", "-p", "-t", PANE), text)

    async def says(self, text: str) -> None:
        prompts = self._world.models.prompts
        earlier = len(prompts)
        self._world.tmux("send-keys", "-t", PANE, "-l", text)
        await self.shows(text)
        # An Enter right after the text is read as part of it, and an extra one is harmless.
        while not any(text in prompt for prompt in prompts[earlier:]):
            await asyncio.sleep(0.5)
            self._world.tmux("send-keys", "-t", PANE, "Enter")

    def closes(self) -> None:
        self._world.tmux("kill-session", "-t", "=person")


async def adopted(client: Client, **wanted: Any) -> dict[str, Any]:
    """The only session, once it satisfies the condition."""

    async def look() -> dict[str, Any] | None:
        sessions = await client.call("GET", "/sessions")
        is_so = sessions and all(sessions[0][name] == value for name, value in wanted.items())
        return dict(sessions[0]) if is_so else None

    session: dict[str, Any] = await eventually(look, f"the session is {wanted}")
    return session
