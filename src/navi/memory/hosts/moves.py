"""Sessions that are now received from another machine than before."""

from __future__ import annotations

from navi.memory.hosts.host_source import RECEIVED
from navi.memory.ingest.plan import IndexedFiles, Plan


def forget_earlier_bundles(plan: Plan, files: IndexedFiles) -> None:
    """Drop the earlier bundles of these sessions, which would otherwise count as vanished."""
    changed = {id: file.path for id, source, file in plan.changed if source == RECEIVED}
    moved = [
        (key, file.session_id)
        for key, file in files.items()
        if key[0] == RECEIVED and changed.get(file.session_id, key[1]) != key[1]
    ]
    for key, session_id in moved:
        del files[key]
        plan.vanished_ids = [id for id in plan.vanished_ids if id != session_id]
