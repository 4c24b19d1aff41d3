"""What will happen next, over all sessions."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import event

from navi.base.ids import new_id
from navi.live.model.access.caller import Caller
from navi.live.model.access.user import Role, User
from navi.live.model.scheduling.agenda import WaitsFor
from navi.live.model.scheduling.automation import Kind
from navi.live.model.scheduling.reminder import Registration, Reminder, ReminderStatus
from navi.live.model.session import Session, generated_name
from navi.live.store import sessions, terminals
from navi.live.store.engine.connection import open_engine
from navi.live.store.scheduling import (
    agenda,
    hidden_sessions,
    one_time_reminders,
    recalls,
    reminders,
)
from tests.hook_reports import hook_report
from tests.integration.store import automation_steps
from tests.integration.store.recall_steps import a_recall
from tests.store_world import NOON, World

MINUTE = timedelta(minutes=1)
LOCAL = Caller(User("local", Role.USER, NOON))


async def remind_once(world: World, session: Session, minutes: int, message: str) -> Reminder:
    new = Reminder(
        id=new_id(),
        session_id=session.id,
        message=message,
        fires_at=NOON + minutes * MINUTE,
        status=ReminderStatus.PENDING,
        created_at=NOON,
        updated_at=NOON,
    )
    return await world.store.transact(one_time_reminders.schedule, new)


async def remind(world: World, session: Session, minutes: int) -> Registration:
    new = Registration(new_id(), session.id, minutes * 60, minutes * 120, NOON, NOON)
    return await world.store.transact(reminders.register, new)


async def full_session(world: World, user_id: str = "local") -> tuple[Session, list[str]]:
    """A session with one of everything, and the ids of that in the order of their times."""
    session = await world.session(id=new_id(), user_id=user_id)
    recall = a_recall(world, session)
    await world.store.transact(recalls.schedule, recall)
    once = await remind_once(world, session, 2, "Look at the\nbuild")
    periodic = await remind(world, session, 3)
    automation = await automation_steps.add(
        world, session, user_id=user_id, name="error log", next_run_at=NOON + 4 * MINUTE
    )
    return session, [recall.id, once.id, periodic.id, automation.id]


async def test_the_agenda_has_recalls_reminders_and_automations_soonest_first(
    world: World,
) -> None:
    session, ids = await full_session(world)

    entries = await world.store.transact(agenda.upcoming, user_id=None)

    assert [entry.id for entry in entries] == ids
    assert [(entry.kind, entry.title) for entry in entries] == [
        ("recall", "Read build.log"),
        ("reminder", "Look at the"),
        ("reminder", agenda.ASKS_FOR_STATUS),
        ("automation", "error log"),
    ]
    assert [entry.at for entry in entries] == [NOON + count * MINUTE for count in (1, 2, 3, 4)]
    assert {(entry.session_id, entry.session_title) for entry in entries} == {(session.id, "test")}


async def test_the_agenda_ends_where_it_should(world: World) -> None:
    _, ids = await full_session(world)
    until = NOON + 2 * MINUTE
    entries = await world.store.transact(agenda.upcoming, user_id=None, until=until)
    assert [entry.id for entry in entries] == ids[:2]


async def test_what_is_over_or_switched_off_is_not_on_the_agenda(world: World) -> None:
    session, _ = await full_session(world)
    await automation_steps.add(world, session, enabled=False)
    assert len(await world.store.transact(agenda.upcoming, user_id=None)) == 4

    await world.store.transact(sessions.kill, session.id, world.later())

    assert await world.store.transact(agenda.upcoming, user_id=None) == []


async def test_the_agenda_of_a_user_has_nothing_of_another(world: World) -> None:
    _, of_ada = await full_session(world, "ada")
    _, of_bob = await full_session(world, "bob")
    for user_id, ids in {"ada": of_ada, "bob": of_bob, "carol": []}.items():
        entries = await world.store.transact(agenda.upcoming, user_id=user_id)
        assert [entry.id for entry in entries] == ids


async def test_a_background_automation_is_on_the_agenda(world: World) -> None:
    heartbeat = automation_steps.automation(None, name="heartbeat", kind=Kind.HEARTBEAT)
    session = Session.new("local", "builtin", "/", NOON, id=heartbeat.session_id, name="heartbeat")
    await world.store.transact(hidden_sessions.add_or_update, session, heartbeat, NOON)
    (entry,) = await world.store.transact(agenda.upcoming, user_id="local")
    assert (entry.title, entry.session_id) == ("heartbeat", session.id)


async def test_sessions_are_named_by_their_titles(world: World) -> None:
    session_id = new_id()
    session = await world.session(id=session_id, name=generated_name(session_id))
    await world.turn(session, "Tidy the shed")
    await remind_once(world, session, 1, "later")
    (entry,) = await world.store.transact(agenda.upcoming, user_id=None)
    assert entry.session_title == "Tidy the shed"


async def test_the_agenda_of_many_sessions_is_one_query(world: World) -> None:
    for _ in range(3):
        await full_session(world)
    engine = open_engine(world.url)
    statements: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *each: statements.append(each[2]))
    with engine.connect() as connection:
        assert len(agenda.upcoming(connection, user_id="local")) == 12
    engine.dispose()
    assert len([each for each in statements if "FROM automations" in each]) == 1
    assert len([each for each in statements if each.startswith("SELECT")]) == 1


async def test_an_entry_says_that_its_session_is_open_in_a_terminal(world: World) -> None:
    session = await world.session(id=new_id(), driver="claude_code")
    await remind_once(world, session, 1, "Look at the build")
    await world.store.transact(terminals.remember, session, "abc", world.now)
    for name, expected in (("SessionStart", WaitsFor.TERMINAL), ("SessionEnd", None)):
        report = hook_report(name, "abc", world.later())
        await world.store.transact(terminals.report, LOCAL, report, session, world.now)
        (entry,) = await world.store.transact(agenda.upcoming, user_id="local")
        assert entry.waits_for is expected
