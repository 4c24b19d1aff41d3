"""Sessions that have moved to another machine's bundles."""

from __future__ import annotations

from navi.memory.hosts.host_source import RECEIVED
from navi.memory.ingest.plan import IndexedFiles, Plan


def forget_earlier_places(plan: Plan, files: IndexedFiles) -> None:
    """A session that has moved to another machine's bundle is not gone."""
    changed = {id: file.path for id, source, file in plan.changed if source == RECEIVED}
    moved = [
        (key, file.session_id)
        for key, file in files.items()
        if key[0] == RECEIVED and changed.get(file.session_id, key[1]) != key[1]
    ]
    for key, session_id in moved:
        del files[key]
        plan.vanished_ids = [id for id in plan.vanished_ids if id != session_id]
