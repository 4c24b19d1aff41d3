"""Damaged rows of every kind are set aside and shown, and all others keep working."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection, insert, text, update

from navi.base.ids import new_id
from navi.live.model.scheduling.automation_request import AutomationRequest
from navi.live.model.scheduling.recall import CallType
from navi.live.model.scheduling.recall_request import RecallRequest
from navi.live.model.session import Session
from navi.live.store.damage import set_aside
from navi.live.store.engine import tables
from navi.live.store.engine.connection import open_engine
from tests.live_world import LOCAL, Start, World

PAST = datetime(2026, 1, 1, tzinfo=UTC)
TASK = "Read build.log with filesystem. [[say: looked]]"


@dataclass(frozen=True)
class Damage:
    kind: str
    plant: Callable[[Connection, str], None]


def a_recall(connection: Connection, session_id: str, **fields: Any) -> None:
    values = {
        "id": new_id(),
        "session_id": session_id,
        "call_type": "once",
        "trigger_at": PAST,
        "due_at": PAST,
        "additional_context_message": "never",
        "scheduled_by": "person",
        "status": "pending",
        "missed_count": 0,
        "created_at": PAST,
        "updated_at": PAST,
    }
    connection.execute(insert(tables.session_recalls).values({**values, **fields}))


def a_recall_at_no_time(connection: Connection, session_id: str) -> None:
    a_recall(connection, session_id)
    spoil(connection, "session_recalls", "trigger_at", session_id)


def spoil(connection: Connection, table: str, column: str, session_id: str) -> None:
    """Write an instant that Python cannot represent and that sorts before all others."""
    value = "-infinity" if connection.dialect.name == "postgresql" else "0 o'clock"
    connection.execute(
        text(f"UPDATE {table} SET {column} = :value WHERE session_id = :session_id"),
        {"value": value, "session_id": session_id},
    )


def an_automation(connection: Connection, session_id: str, **fields: Any) -> None:
    values = {
        "id": new_id(),
        "user_id": LOCAL.id,
        "name": "damaged",
        "kind": "agent_turn",
        "session_key": session_id,
        "schedule_kind": "cron",
        "cron_expr": "* * * * *",
        "tz": "UTC",
        "message": "never",
        "enabled": True,
        "catch_up": "once",
        "max_failures": 5,
        "deliver": False,
        "next_run_at": PAST,
        "run_count": 0,
        "failures_in_row": 0,
        "missed_count": 0,
        "created_at": PAST,
        "updated_at": PAST,
    }
    connection.execute(insert(tables.automations).values({**values, **fields}))


def a_nudge(connection: Connection, session_id: str) -> None:
    # The next round would be after the year 9999.
    connection.execute(
        insert(tables.remind_registrations).values(
            id=new_id(),
            target_session_id=session_id,
            soft_threshold_seconds=2_000_000_000,
            hard_threshold_seconds=2_000_000_001,
            registered_at=PAST,
            last_reset_at=datetime(9990, 1, 1, tzinfo=UTC),
            soft_fired=False,
            hard_fired=False,
            is_active=True,
            due_at=PAST,
        )
    )


def a_reminder(connection: Connection, session_id: str) -> None:
    connection.execute(
        insert(tables.scheduled_reminders).values(
            id="damaged",
            session_id=session_id,
            message="never",
            fires_at=PAST,
            due_at=PAST,
            status="pending",
            created_at=PAST,
            updated_at=PAST,
        )
    )
    spoil(connection, "scheduled_reminders", "fires_at", session_id)


def an_input(connection: Connection, session_id: str) -> None:
    connection.execute(
        insert(tables.message_queue).values(
            id=new_id(),
            session_id=session_id,
            ordinal=1000,
            text="never",
            delivery_mode="telepathic",
            origin="user",
            notify_on_delivery=False,
            notify_on_stop=False,
            metadata={},
            queued_at=PAST,
        )
    )


def a_turn(connection: Connection, session_id: str) -> None:
    turn_id = new_id()
    connection.execute(
        insert(tables.turns).values(
            id=turn_id,
            session_id=session_id,
            fence=1,
            origin="user",
            event_count=3,
            stop_reason="boredom",
            input_tokens=0,
            output_tokens=0,
            cache_read_tokens=0,
            cache_creation_tokens=0,
            started_at=PAST,
        )
    )
    connection.execute(
        update(tables.lanes)
        .where(tables.lanes.c.session_id == session_id)
        .values(turn_id=turn_id, owner="nobody", lease_until=PAST, fence=1)
    )
    connection.execute(
        update(tables.sessions).where(tables.sessions.c.id == session_id).values(state="running")
    )


def a_terminal(connection: Connection, session_id: str) -> None:
    connection.execute(
        insert(tables.agent_sessions).values(
            driver="carrier pigeon",
            agent_session_id=new_id(),
            session_id=session_id,
            context_from_idx=0,
            is_open=True,
            created_at=PAST,
        )
    )


DAMAGES = [
    Damage("recall", lambda c, s: a_recall(c, s, call_type="never")),
    Damage("recall", a_recall_at_no_time),
    Damage("automation", lambda c, s: an_automation(c, s, cron_expr="what?")),
    Damage("automation", lambda c, s: an_automation(c, s, kind="what?")),
    Damage("nudge", a_nudge),
    Damage("reminder", a_reminder),
    Damage("input", an_input),
    Damage("turn", a_turn),
    Damage("terminal", a_terminal),
]


async def test_damaged_rows_of_every_kind_are_set_aside_and_all_others_go_on(
    start: Start, database_url: str
) -> None:
    async with start() as world:
        damaged = [await world.session() for _ in DAMAGES]
        waking, scheduled, reminded = [await world.session() for _ in range(3)]
    plant(database_url, damaged)

    async with start() as world:
        await schedule_the_others(world, waking, scheduled, reminded)
        await world.forward(1)
        for session in (waking, scheduled, reminded):
            assert await world.outcomes(session, 1) == ["ok"]
        await world.until(partial(all_are_set_aside, world))

        for damage, session in zip(DAMAGES, damaged, strict=True):
            notices = [each.content for each in await world.messages(session)]
            assert any(f"damaged {damage.kind}" in each for each in notices), damage.kind
            await world.say(session, "hello")
            assert (await world.outcomes(session, 1))[-1:]


def plant(url: str, sessions: list[Session]) -> None:
    engine = open_engine(url)
    with engine.begin() as connection:
        for damage, session in zip(DAMAGES, sessions, strict=True):
            damage.plant(connection, session.id)
    engine.dispose()


async def schedule_the_others(
    world: World, waking: Session, scheduled: Session, reminded: Session
) -> None:
    await world.navi.recalls.schedule(
        LOCAL,
        waking.id,
        RecallRequest(call_type=CallType.ONCE, when="1s", additional_context_message=TASK),
    )
    await world.navi.automations.add(
        LOCAL, scheduled.id, AutomationRequest(name="fine", message=TASK, at="1s")
    )
    await world.navi.reminders.schedule(LOCAL, reminded.id, 1.0, "[[say: here]]")


async def all_are_set_aside(world: World) -> bool:
    rows = await world.navi.store.transact(set_aside.list_rows)
    return sorted(row.kind for row in rows) == sorted(damage.kind for damage in DAMAGES)
