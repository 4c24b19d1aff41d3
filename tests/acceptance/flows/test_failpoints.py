"""The server dies right before and right after each commit of recalls and automations.

Each commit is tried on both stores, but not in every combination, which would take too long.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from tests.acceptance.flows import ledger
from tests.acceptance.flows.conftest import Serve
from tests.acceptance.flows.failpoints import (
    FAILPOINTS,
    WITH_FAILPOINTS,
    die_at,
    set_failpoint,
    work_until_it_dies,
)
from tests.acceptance.flows.ledger import AddedAutomation, ScheduledRecall, Sent
from tests.acceptance.flows.mutants import mutant
from tests.acceptance.flows.storm import at_rest
from tests.acceptance.flows.workloads.automations import (
    SHORT_BEATS,
    Automations,
    let_beat,
    switch_off,
)
from tests.postgres import PostgresServer
from tests.server import ServerProcess

pytestmark = pytest.mark.proof

# Only until it dies: a store with a heartbeat every second never comes to rest.
SHORT_HEARTBEAT = """
import os
from datetime import timedelta
from navi.live.runtime import app
from navi.live.runtime.scheduler.system_jobs import SystemSchedules
beat = timedelta(seconds=1 if "FAILPOINT" in os.environ else 3600)
app.schedules_of = lambda settings: SystemSchedules(beat, None)
"""
RECORDS_SLOWLY = """
import time
from navi.live.store import turns
extend = turns.extend
def extend_slowly(*arguments):
    time.sleep(0.5)
    extend(*arguments)
    return True
turns.extend = extend_slowly
"""
CHAIN = (
    '[[tool: schedule_recall | {"call_type": "immediate", '
    '"additional_context_message": "[[say: two]]"}]] [[say: one]]'
)


@pytest.mark.parametrize(
    "operation", ["due_recalls.claim", "turns.admit", "turns.begin", "turns.finish"]
)
@pytest.mark.parametrize(
    ("moment", "database_url"),
    [("before", "sqlite"), ("after", "postgresql")],
    indirect=["database_url"],
)
async def test_recalls_survive_a_death_at_the_first_second_and_third_commit(
    serve: Serve, database_url: str | None, operation: str, moment: str
) -> None:
    server = serve(database_url, command=WITH_FAILPOINTS)
    people = People(server)
    beating = await people.let_beat()
    for number in (1, 2, 3):
        server.kill()
        set_failpoint(server, f"{moment} {operation}:{number}")
        await work_until_it_dies(server, people.work)
    set_failpoint(server, None)
    server.start()
    async with server.client() as client:
        await client.call("DELETE", f"/sessions/{beating}/recall")
    store = await at_rest(server.database_url)

    assert ledger.violations(store, people.sent, scheduled=people.scheduled) == []
    assert store.beats


@pytest.mark.parametrize(
    "operation",
    ["due_automations.claim", "turns.drop", "turns.finish", "background_answers.deliver"],
)
@pytest.mark.parametrize(
    ("moment", "number", "database_url"),
    [("before", 1, "sqlite"), ("after", 2, "postgresql")],
    indirect=["database_url"],
)
async def test_automations_survive_a_death_at_the_first_or_second_commit(
    serve: Serve, database_url: str | None, operation: str, moment: str, number: int
) -> None:
    command = mutant(SHORT_BEATS + SHORT_HEARTBEAT + FAILPOINTS)
    server = serve(database_url, settings=Automations.settings, command=command)
    await let_beat(server)
    await die_at(server, f"{moment} {operation}:{number}")
    await switch_off(server)
    store = await at_rest(server.database_url)

    assert ledger.violations(store, added=[AddedAutomation("bound")]) == []
    assert store.runs


async def test_a_tool_does_not_act_before_its_call_is_on_record(
    serve: Serve, postgres: PostgresServer
) -> None:
    """Otherwise a turn given back without output would act a second time."""
    command = mutant(RECORDS_SLOWLY + FAILPOINTS)
    server = serve(postgres.create_database(), command=command)
    server.kill()
    set_failpoint(server, "before __main__.extend_slowly:1")

    async def work() -> None:
        async with server.client() as client:
            session_id = await client.session()
            task = {"call_type": "immediate", "additional_context_message": CHAIN}
            await client.call("POST", f"/sessions/{session_id}/recall", task, expect=201)
            await asyncio.to_thread(server.process.wait)

    await work_until_it_dies(server, work)
    at_death = await asyncio.to_thread(ledger.read, server.database_url)
    set_failpoint(server, None)
    server.start()
    store = await at_rest(server.database_url)

    assert [recall.additional_context_message for recall in at_death.recalls] == [CHAIN]
    assert [recall.status for recall in store.recalls] == ["fired", "fired"]
    assert ledger.violations(store) == []


@dataclass(slots=True)
class People:
    """Clients that schedule and talk, and remember what was confirmed."""

    server: ServerProcess
    sent: list[Sent] = field(default_factory=list)
    scheduled: list[ScheduledRecall] = field(default_factory=list)

    async def let_beat(self) -> str:
        """A session with a recall every second."""
        async with self.server.client() as client:
            session_id = await client.session()
            beat = {"call_type": "recurring", "when": "1s", "interval_seconds": 1}
            body = {**beat, "additional_context_message": "[[say: a beat]]"}
            await client.call("POST", f"/sessions/{session_id}/recall", body, expect=201)
            self.scheduled.append(ScheduledRecall(session_id, "[[say: a beat]]"))
        return session_id

    async def work(self) -> None:
        """A recall due at once and a message, in a new session."""
        async with self.server.client() as client:
            session_id = await client.session()
            task = {"call_type": "immediate", "additional_context_message": "[[say: awake]]"}
            self.scheduled.append(ScheduledRecall(session_id, "[[say: awake]]", is_confirmed=False))
            await client.call("POST", f"/sessions/{session_id}/recall", task, expect=201)
            self.scheduled[-1] = replace(self.scheduled[-1], is_confirmed=True)
            text, input_id = "[[say: hello]]", f"hello-{session_id}"
            self.sent.append(Sent(input_id, session_id, text, "hello", is_confirmed=False))
            await client.say(session_id, text, input_id=input_id)
            self.sent[-1] = replace(self.sent[-1], is_confirmed=True)
