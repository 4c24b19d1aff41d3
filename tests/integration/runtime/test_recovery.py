from __future__ import annotations

import subprocess
import sys
from datetime import timedelta

from sqlalchemy import Connection

from navi.base.ids import new_id
from navi.live.model.input import NewInput
from navi.live.model.turn import SERVER_STOPPED
from navi.live.runtime.turns.process_identity import is_surely_dead, own_identity
from navi.live.store import input_queue, lanes, turns
from tests.live_world import LOCAL, LONG, Start, World


def identity_of_a_dead_process() -> str:
    script = (
        "from navi.live.runtime.turns.process_identity import own_identity; print(own_identity())"
    )
    finished = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return finished.stdout.strip()


async def leave_a_turn(world: World, text: str, owner: str, lease_seconds: float) -> str:
    """A turn in the store that nobody in this process runs."""
    session = await world.session()
    new = NewInput(id=new_id(), session_id=session.id, text=text)
    now = world.clock.now()
    claim = turns.Claim(new_id(), owner, now + timedelta(seconds=lease_seconds), now)

    def admit_and_begin(connection: Connection) -> None:
        # In one transaction, or this process would start the waiting input.
        input_queue.admit(connection, new, now)
        assert turns.begin(connection, session.id, claim) is not None

    await world.navi.store.transact(admit_and_begin)
    return session.id


async def pass_of_recovery(world: World, after_seconds: float = 0) -> None:
    world.clock.move(seconds=after_seconds)
    world.navi.recovery.wake()
    await world.navi.recovery.wait_until_idle()


def test_this_process_is_alive_and_a_finished_one_is_dead() -> None:
    assert not is_surely_dead(own_identity())
    assert is_surely_dead(identity_of_a_dead_process())


def test_nothing_is_surely_known_about_other_machines() -> None:
    _, pid, start, nonce = identity_of_a_dead_process().split("/")
    assert not is_surely_dead(f"another-boot/{pid}/{start}/{nonce}")
    assert not is_surely_dead("nonsense")


async def test_the_turn_of_a_dead_process_is_closed_at_the_next_start_and_runs_again(
    start: Start,
) -> None:
    async with start(lease_seconds=3600) as world:
        dead = identity_of_a_dead_process()
        session_id = await leave_a_turn(world, "hello", dead, lease_seconds=3600)
        session = await world.navi.sessions.get(LOCAL, session_id)

    async with start(lease_seconds=3600) as world:
        frames = await world.ended(session, 2)

    ends = [frame for frame in frames if frame["type"] == "stream_end"]
    assert [(end["outcome"], end["error"]) for end in ends] == [
        ("error", SERVER_STOPPED),
        ("ok", None),
    ]


async def test_a_server_far_away_is_left_in_peace_until_its_lease_ends(start: Start) -> None:
    async with start() as world:
        alive = await leave_a_turn(world, "hello", "elsewhere/1/1/a", lease_seconds=3600)
        stalled = await leave_a_turn(world, "hello", "elsewhere/1/1/b", lease_seconds=60)
        await pass_of_recovery(world, after_seconds=60)
        session = await world.navi.sessions.get(LOCAL, stalled)
        assert session.state == "running"

        await pass_of_recovery(world, after_seconds=1)
        assert await world.outcomes(session, 2) == ["error", "ok"]

        assert (await world.navi.sessions.get(LOCAL, alive)).state == "running"


async def test_a_running_turn_keeps_its_lease(start: Start) -> None:
    async with start(lease_seconds=60) as first, start(lease_seconds=60) as second:
        session = await first.session()
        await first.say(session, LONG)
        await first.started(session)

        for _ in range(5):
            await pass_of_recovery(first, after_seconds=40)
            await pass_of_recovery(second)

        await first.navi.sessions.stop(LOCAL, session.id)
        assert await second.outcomes(session, 1) == ["stopped"]


async def test_who_was_taken_over_stops_and_writes_nothing(start: Start) -> None:
    async with start() as world:
        session = await world.session()
        await world.say(session, LONG)
        await world.started(session)
        (dead,) = await world.navi.store.transact(lanes.running)
        # As another server would, had this one been stalled for too long.
        await world.navi.store.transact(turns.close_dead, dead, world.clock.now())
        await pass_of_recovery(world)

        # The input waited again and began anew; the old turn writes nothing more.
        await world.started(session, 2)
        await world.navi.sessions.stop(LOCAL, session.id)
        assert await world.outcomes(session, 2) == ["error", "stopped"]


async def test_stopping_gracefully_gives_back_what_produced_nothing(start: Start) -> None:
    async with start() as world:
        session = await world.session()
        await world.say(session, LONG)
        await world.started(session)
        await world.say(session, "second")

    async with start() as world:
        frames = await world.started(session, 2)
        await world.navi.sessions.stop(LOCAL, session.id)
        outcomes = await world.outcomes(session, 3)

    assert [f["error"] for f in frames if f["type"] == "stream_end"] == [SERVER_STOPPED]
    assert outcomes == ["error", "stopped", "ok"]


async def test_stopping_gracefully_keeps_what_was_said(start: Start) -> None:
    async with start() as world:
        session = await world.session()
        await world.say(session, "[[say: half]] [[sleep: 600]]")
        await world.frames_until(session, lambda frame: frame["type"] == "stream_delta")

    async with start() as world:
        answer = (await world.messages(session))[-1]

    assert (answer.content, answer.metadata["error"]) == ("half", SERVER_STOPPED)


async def test_a_stop_reaches_the_server_that_runs_the_turn(start: Start) -> None:
    async with start(lease_seconds=4) as runs, start(lease_seconds=4) as asks:
        session = await runs.session()
        await runs.say(session, LONG)
        await runs.started(session)

        assert await asks.navi.sessions.stop(LOCAL, session.id) is True

        assert await runs.outcomes(session, 1) == ["stopped"]


async def test_two_servers_share_the_work_and_see_each_others_events(start: Start) -> None:
    async with start(max_concurrent=1) as full, start(max_concurrent=1) as free:
        busy, other = await full.session(), await full.session()
        await full.say(busy, LONG)
        await full.started(busy)

        admission = await full.say(other, "hello")

        assert not admission.delivered
        # The other server has room and takes it; this one sees what happens there.
        assert await full.outcomes(other, 1) == ["ok"]
        assert await free.outcomes(other, 1) == ["ok"]
