"""Servers with deliberate faults: the checker must catch them, and must pass the real one."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass

import pytest

from tests.acceptance.flows import ledger
from tests.acceptance.flows.conftest import Serve
from tests.acceptance.flows.ledger import Sent
from tests.acceptance.flows.storm import eventually
from tests.server import NAVI, Client, ServerProcess

pytestmark = pytest.mark.proof

MAIN = "from navi.cli.navi.main import main; main()"

NEVER_GIVES_BACK = """
from navi.store import queue
queue.give_back = lambda connection, turn_id: []
"""

ALWAYS_GIVES_BACK = """
from sqlalchemy import text
from navi.store import turns
close_dead = turns.close_dead
GIVE_BACK = (
    "DELETE FROM messages WHERE turn_id = :turn AND session_id = :session",
    "UPDATE message_queue SET delivered_at = NULL, turn_id = NULL "
    "WHERE turn_id = :turn AND session_id = :session",
    "UPDATE lanes SET next_idx = (SELECT count(*) FROM messages WHERE session_id = :session) "
    "WHERE session_id = :session AND :turn = :turn",
)
def close_and_give_back(connection, dead, now):
    closed = close_dead(connection, dead, now)
    for statement in GIVE_BACK:
        connection.execute(text(statement), {"turn": dead.id, "session": dead.session_id})
    return closed
turns.close_dead = close_and_give_back
"""

FORGETS_ADMISSIONS = """
from navi.domain.input import Admission
from navi.store import queue
def admit_in_lane(connection, lane, new, *_):
    return Admission(new.id, delivered=True, position=0), None
queue.admit_in_lane = admit_in_lane
"""


def mutant(patch: str) -> list[str]:
    """The command `navi`, with a fault that is put in just before it starts."""
    return [sys.executable, "-c", patch + MAIN]


async def test_the_real_server_keeps_its_promise_when_its_turns_are_killed(serve: Serve) -> None:
    story = await _kill_a_silent_and_a_speaking_turn(serve(command=NAVI))

    assert story.complaints == []
    assert story.turns_of_silent == 2
    assert story.turns_of_speaking == 1


async def test_the_checker_catches_a_server_that_never_gives_inputs_back(serve: Serve) -> None:
    story = await _kill_a_silent_and_a_speaking_turn(serve(command=mutant(NEVER_GIVES_BACK)))

    assert any("silent-1 is lost" in complaint for complaint in story.complaints)


async def test_the_checker_catches_a_server_that_always_gives_inputs_back(serve: Serve) -> None:
    story = await _kill_a_silent_and_a_speaking_turn(serve(command=mutant(ALWAYS_GIVES_BACK)))

    assert any("speaking-1 was delivered again" in complaint for complaint in story.complaints)


async def test_the_checker_catches_a_server_that_confirms_what_it_does_not_store(
    serve: Serve,
) -> None:
    server = serve(command=mutant(FORGETS_ADMISSIONS))
    async with server.client() as client:
        session_id = await client.session()
        await client.say(session_id, "hello", input_id="forgotten")
    complaints = ledger.violations(
        ledger.read(server.database_url), [Sent("forgotten", session_id, "hello")]
    )

    assert complaints == ["input forgotten was confirmed but is not stored"]


@dataclass(frozen=True, slots=True)
class Story:
    complaints: list[str]
    turns_of_silent: int
    turns_of_speaking: int


async def _kill_a_silent_and_a_speaking_turn(server: ServerProcess) -> Story:
    """Two turns that never end by themselves; the kill comes when the one has spoken."""
    async with server.client() as client:
        silent = await client.session()
        speaking = await client.session()
        sent = [
            Sent("silent-1", silent, "[[sleep: 600]] [[say: done]]"),
            Sent("speaking-1", speaking, "[[say: begun]] [[sleep: 600]] [[say: done]]"),
        ]
        for each in sent:
            await client.say(each.session_id, each.text, input_id=each.input_id)
        await _until_told(client, speaking, "stream_delta")
        await _until_told(client, silent, "stream_start")
    server.kill()
    server.start()
    async with server.client() as client:
        await _stop_until_at_rest(client, server.database_url, [silent, speaking])
    found = ledger.read(server.database_url)
    return Story(
        complaints=ledger.violations(found, sent),
        turns_of_silent=sum(turn.session_id == silent for turn in found.turns),
        turns_of_speaking=sum(turn.session_id == speaking for turn in found.turns),
    )


async def _until_told(client: Client, session_id: str, type_: str) -> None:
    async with client.watch(session_id, after=0) as socket:
        async for frame in socket:
            if f'"type":"{type_}"' in str(frame):
                return


async def _stop_until_at_rest(client: Client, database_url: str, session_ids: list[str]) -> None:
    """Whatever was delivered again would not end by itself either."""

    async def is_so() -> bool:
        for session_id in session_ids:
            await client.call("POST", f"/sessions/{session_id}/stop")
        _, is_quiet = await asyncio.to_thread(ledger.progress, database_url)
        return is_quiet

    await eventually(is_so, what="every turn is stopped")
