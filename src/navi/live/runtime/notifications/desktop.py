"""Shows notifications on the desktop of the machine on which the server runs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from navi.base.platform import notification_command
from navi.live.runtime.notifications.channel import TIMEOUT_SECONDS, ChannelUnavailable, Message


@dataclass(frozen=True, slots=True)
class Desktop:
    name: str = "desktop"

    async def send(self, message: Message) -> None:
        command = notification_command(message.title, message.text)
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            raise ChannelUnavailable(f"{command[0]} is not installed") from error
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                _, errors = await process.communicate()
        except TimeoutError as error:
            process.kill()
            await process.wait()
            raise ChannelUnavailable(f"{command[0]} did not finish in time") from error
        if process.returncode:
            lines = errors.decode(errors="replace").strip().splitlines()
            reason = lines[-1] if lines else f"exit code {process.returncode}"
            raise ChannelUnavailable(f"{command[0]}: {reason}")
