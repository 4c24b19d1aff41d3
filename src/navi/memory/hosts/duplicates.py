"""Received sessions that this machine also has a file of. Its own file wins.

This happens if agents' folders are also copied between machines by other means. The bundle is moved
away first, so that the next pass can finish the work if this one is killed.
"""

from __future__ import annotations

import os
from collections.abc import Collection

from duckdb import DuckDBPyConnection

from navi.memory import database
from navi.memory.hosts.host_source import ENDING, RECEIVED
from navi.memory.hosts.received import folder_of, hosts
from navi.memory.index_paths import IndexPaths
from navi.memory.ingest.plan import IndexedFiles, Plan


def ids_with_own_file(plan: Plan, files: IndexedFiles) -> set[str]:
    """Received sessions with the id of a session of this machine."""
    ids = [(source, id) for id, source, _ in plan.changed]
    ids += [(source, file.session_id) for (source, _), file in files.items()]
    received = {id for source, id in ids if source == RECEIVED}
    if not received:
        return received
    return received & {id for source, id in ids if source != RECEIVED}


def ids_of_own_sessions(paths: IndexPaths) -> list[str]:
    """Received sessions with the same agent's id as a session of this machine."""
    if not paths.hosts.exists():
        return []
    with database.reading(paths) as connection:
        rows = connection.execute(
            "SELECT DISTINCT r.id FROM sessions r JOIN sessions o "
            "ON o.source = r.source AND o.source_session_id = r.source_session_id "
            "AND o.is_subagent = r.is_subagent WHERE r.host IS NOT NULL AND o.host IS NULL "
            "AND (NOT r.is_subagent OR o.parent_source_session_id = r.parent_source_session_id)"
        ).fetchall()
    return [row[0] for row in rows]


def leave_out(plan: Plan, files: IndexedFiles, ids: Collection[str]) -> None:
    """Remove the bundles of these sessions from `plan` and `files`."""
    plan.changed = [each for each in plan.changed if each[1] != RECEIVED or each[0] not in ids]
    plan.vanished_ids = [id for id in plan.vanished_ids if id not in ids]
    plan.returned_ids = [id for id in plan.returned_ids if id not in ids]
    for key in [key for key, file in files.items() if file.session_id in ids]:
        if key[0] == RECEIVED:
            del files[key]


def put_away(paths: IndexPaths, ids: Collection[str]) -> None:
    """Move the bundles of these sessions to a folder that no source reads."""
    folder = paths.put_away
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for host in hosts(paths):
        for id in ids:
            bundle = folder_of(paths, host.id) / f"{id}{ENDING}"
            if bundle.exists():
                os.replace(bundle, folder / bundle.name)


def received_among(connection: DuckDBPyConnection, ids: Collection[str]) -> list[str]:
    rows = connection.execute(
        "SELECT id FROM sessions WHERE host IS NOT NULL AND id IN (SELECT unnest(?))", [list(ids)]
    ).fetchall()
    return [row[0] for row in rows]
