"""Brings the index up to date beside the picker.

In a process of its own: reading new files would take the processor time that keys need.
"""

from __future__ import annotations

import asyncio

from navi.base.python_command import python_module

COMMAND = python_module("navi.cli.recall.main", "list", "--count")
"""Begins like `recall search`: reads what is new if that is quick, and says if it is not."""


async def bring_up_to_date() -> str:
    """What the command has to say about the index; nothing if the index is up to date."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, remarks = await process.communicate()
    except asyncio.CancelledError:
        # The picker ends. A pass can be interrupted at any time; the next one continues it.
        process.terminate()
        await process.wait()
        raise
    lines = remarks.decode(errors="replace").strip().splitlines()
    return lines[0] if lines else ""
