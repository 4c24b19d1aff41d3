"""Imports the `jobs.json` of an older system as automations."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from navi.base.clock import Clock
from navi.base.errors import NaviError, SessionNotFound
from navi.live.model.access.user import LOCAL_USER_ID
from navi.live.model.scheduling.automation import Automation, Category, Target
from navi.live.model.scheduling.jobs_file import RefusedJob, read_jobs
from navi.live.runtime import server_files
from navi.live.runtime.scheduler.system_jobs import hidden_session
from navi.live.runtime.services.agent_catalogue import BUILTIN
from navi.live.store import sessions
from navi.live.store.engine import signals
from navi.live.store.engine.transactions import Store
from navi.live.store.scheduling import automations, hidden_sessions

log = logging.getLogger("navi.automations")


@dataclass(slots=True)
class ImportResult:
    added: list[Automation] = field(default_factory=list)
    existing: list[Automation] = field(default_factory=list)
    """These were imported earlier, and are left unchanged."""
    refused: list[RefusedJob] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


async def import_jobs(
    store: Store, clock: Clock, text: str, timezone_name: str, session_ids: Mapping[str, str]
) -> ImportResult:
    """Import the jobs in `text`. `session_ids` maps the jobs' session keys to sessions here."""
    jobs = read_jobs(text, clock.now(), LOCAL_USER_ID, timezone_name)
    result = ImportResult(refused=list(jobs.refused), notes=list(jobs.notes))
    for job in jobs.readable:
        if job.is_built_in:
            # The server creates its own jobs from its settings.
            result.notes.append(f"{job.name} ({job.id}) is built into Navi, so it was not imported")
            continue
        key = job.session_key
        automation = job if key is None else replace(job, session_key=session_ids.get(key, key))
        try:
            is_new = await _add_if_new(store, clock, automation)
        except NaviError as error:
            result.refused.append(RefusedJob(f"{job.name} ({job.id})", _reason(error, job)))
        except Exception as error:
            # One bad job must not stop the others.
            log.debug("job %s can't be stored", job.id, exc_info=True)
            reason = f"it can't be stored: {error!r:.200}"
            result.refused.append(RefusedJob(f"{job.name} ({job.id})", reason))
        else:
            (result.added if is_new else result.existing).append(automation)
    if result.added:
        signals.wake_server(store.url)
    return result


async def _add_if_new(store: Store, clock: Clock, automation: Automation) -> bool:
    if await store.transact(automations.find, automation.id) is not None:
        return False
    if automation.category is Category.BOUND:
        # It reports to its session and belongs to that session's user. Its old target is dropped.
        session = await store.transact(sessions.get, automation.session_id)
        bound = replace(automation, user_id=session.user_id, target=Target())
        await store.transact(automations.add, bound)
        return True
    now = clock.now()
    session = hidden_session(automation, str(server_files.workspace()), BUILTIN, now)
    return await store.transact(hidden_sessions.add_or_update, session, automation, now)


def _reason(error: NaviError, job: Automation) -> str:
    if isinstance(error, SessionNotFound):
        return (
            f"there is no session {job.session_key} here; create one, then import again "
            f"with --session {job.session_key}=ID"
        )
    return error.sentence
