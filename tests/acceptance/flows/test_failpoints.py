"""The server dies right before and right after every commit on the way of a recall."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from tests.acceptance.flows import recall_ledger
from tests.acceptance.flows.conftest import Serve
from tests.acceptance.flows.failpoints import (
    FAILPOINTS,
    WITH_FAILPOINTS,
    set_failpoint,
    work_until_it_dies,
)
from tests.acceptance.flows.ledger import Sent
from tests.acceptance.flows.recall_ledger import Asked
from tests.acceptance.flows.storm import until_at_rest
from tests.acceptance.flows.test_mutants import mutant
from tests.postgres import PostgresServer
from tests.server import ServerProcess

pytestmark = pytest.mark.proof

OPERATIONS = ("recalls.claim", "turns.admit", "turns.begin", "turns.finish")
HITS = (1, 2, 3)
RECORDS_SLOWLY = """
import time
from navi.store import turns
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


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    # Each operation on both stores; all combinations would only take longer.
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
    for number in HITS:
        server.kill()
        set_failpoint(server, f"{moment} {operation}:{number}")
        await work_until_it_dies(server, people.work)
    set_failpoint(server, None)
    server.start()
    async with server.client() as client:
        await client.call("DELETE", f"/sessions/{beating}/recall")
    await until_at_rest(server.database_url, recall_ledger.progress)
    books = await asyncio.to_thread(recall_ledger.read, server.database_url)

    assert recall_ledger.violations(books, people.sent, people.asked) == []
    assert books.beats


async def test_a_tool_does_not_act_before_its_call_is_on_record(
    serve: Serve, postgres: PostgresServer
) -> None:
    """Else a turn that is given back, because it has shown nothing, would act a second time."""
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
    at_death = await asyncio.to_thread(recall_ledger.read, server.database_url)
    set_failpoint(server, None)
    server.start()
    await until_at_rest(server.database_url, recall_ledger.progress)
    books = await asyncio.to_thread(recall_ledger.read, server.database_url)

    assert [recall.additional_context_message for recall in at_death.recalls] == [CHAIN]
    assert [recall.status for recall in books.recalls] == ["fired", "fired"]
    assert recall_ledger.violations(books) == []


@dataclass(slots=True)
class People:
    """They schedule and talk, and remember what was confirmed to them."""

    server: ServerProcess
    sent: list[Sent] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)

    async def let_beat(self) -> str:
        """A session that wakes every second, whatever happens to its server."""
        async with self.server.client() as client:
            session_id = await client.session()
            beat = {"call_type": "recurring", "when": "1s", "interval_seconds": 1}
            body = {**beat, "additional_context_message": "[[say: a beat]]"}
            await client.call("POST", f"/sessions/{session_id}/recall", body, expect=201)
            self.asked.append(Asked(session_id, "[[say: a beat]]"))
        return session_id

    async def work(self) -> None:
        """A recall that is due at once, and a message, in a session of their own."""
        async with self.server.client() as client:
            session_id = await client.session()
            task = {"call_type": "immediate", "additional_context_message": "[[say: awake]]"}
            self.asked.append(Asked(session_id, "[[say: awake]]", is_confirmed=False))
            await client.call("POST", f"/sessions/{session_id}/recall", task, expect=201)
            self.asked[-1] = replace(self.asked[-1], is_confirmed=True)
            text, input_id = "[[say: hello]]", f"hello-{session_id}"
            self.sent.append(Sent(input_id, session_id, text, "hello", is_confirmed=False))
            await client.say(session_id, text, input_id=input_id)
            self.sent[-1] = replace(self.sent[-1], is_confirmed=True)
