"""Updates the index while the picker is open.

This runs in a separate process, because reading new files would slow down the response to keys.
"""

from __future__ import annotations

import asyncio

from navi.base.python_command import python_module

COMMAND = python_module("navi.cli.recall.main", "list", "--count")
"""Indexes new messages first if that is quick, like `recall search`; prints a note if it is not."""


async def bring_up_to_date() -> str:
    """The command's note about the index; empty if the index is up to date."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, notes = await process.communicate()
    except asyncio.CancelledError:
        # The picker was closed. A pass can be interrupted at any time; the next one continues it.
        process.terminate()
        await process.wait()
        raise
    lines = notes.decode(errors="replace").strip().splitlines()
    return lines[0] if lines else ""
