from __future__ import annotations

from navi.live.model.event import Event, TextDelta
from navi.live.store import events, snapshot, turns
from tests.store_world import World


async def test_messages_and_the_events_after_a_snapshot_make_the_whole_at_every_moment(
    world: World,
) -> None:
    """Nothing is missing or repeated, whenever a client starts to watch."""
    session = await world.session()

    async def seen() -> list[str]:
        taken = await world.store.transact(snapshot.take, session.id, 100)
        stored = await world.store.transact(events.read_session, session.id, taken.after, 500)
        later = [
            _text(event) for event in stored if event.type in ("stream_delta", "input_delivered")
        ]
        waiting = [f"waits: {each.text}" for each in taken.queue]
        return [*(message.content for message in taken.messages), *later, *waiting]

    assert await seen() == []
    await world.turn(session, "one", TextDelta("first"))
    assert await seen() == ["one", "first"]
    running = (await world.begun(session, "two")).turn
    assert await seen() == ["one", "first", "two"]
    await world.store.transact(turns.extend, running, 0, [TextDelta("sec")], world.later())
    await world.admit(session, "three")
    assert await seen() == ["one", "first", "two", "sec", "waits: three"]
    await world.finish(running, TextDelta("ond"), counted=1)
    assert (await seen())[2:] == ["two", "ond", "waits: three"]


def _text(event: Event) -> str:
    text = event.payload.get("delta") or event.payload["input"]["text"]
    return str(text)


async def test_a_snapshot_has_the_last_messages_only(world: World) -> None:
    session = await world.session()
    for number in range(3):
        await world.turn(session, f"question {number}", TextDelta("answer"))
    taken = await world.store.transact(snapshot.take, session.id, 2)
    assert [message.content for message in taken.messages] == ["question 2", "answer"]
