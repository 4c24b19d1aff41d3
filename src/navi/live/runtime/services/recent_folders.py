"""The folders of recent sessions, to suggest for new ones."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from datetime import datetime
from itertools import islice

from navi.live.model.access.user import User
from navi.live.runtime.services.memory_service import MemoryService
from navi.live.store import sessions
from navi.live.store.engine.transactions import Store

CANDIDATES = 500
"""How many of the latest sessions in the memory to consider; older ones are hardly recent."""


class RecentFolders:
    def __init__(self, store: Store, memory: MemoryService) -> None:
        self._store = store
        self._memory = memory

    async def paths(self, user: User, limit: int) -> list[str]:
        """Existing folders, most recently used first. Only admins get folders from the memory."""
        owner = None if user.is_admin else user.id
        used = await self._store.transact(sessions.folders, user_id=owner)
        if user.is_admin:
            used = [*used, *await self._memory.folders(CANDIDATES)]
        return await asyncio.to_thread(_existing, used, limit)


def _existing(used: Iterable[tuple[str, datetime]], limit: int) -> list[str]:
    latest: dict[str, datetime] = {}
    for path, at in used:
        latest[path] = max(at, latest.get(path, at))
    newest_first = sorted(latest, key=lambda path: latest[path], reverse=True)
    return list(islice(filter(os.path.isdir, newest_first), limit))
