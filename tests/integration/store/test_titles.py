"""The title of an unnamed session is how its conversation began."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection, text

from navi.base.ids import new_id
from navi.live.model.event import Usage
from navi.live.model.input import Origin
from navi.live.model.session import Session, generated_name
from navi.live.model.turn import Ending, Outcome
from navi.live.store import sessions, turns
from navi.live.store.turns import TurnStart
from tests.store_world import World


async def unnamed(world: World, **fields: Any) -> Session:
    session_id = new_id()
    return await world.session(id=session_id, name=generated_name(session_id), **fields)


async def finish(world: World, begun: TurnStart) -> None:
    await world.store.transact(
        turns.finish, begun.turn, 0, [], [], Ending(Outcome.OK), Usage(), world.later()
    )


async def say(world: World, session: Session, words: str, **fields: Any) -> str:
    """The session's title after that message."""
    await world.admit(session, words, **fields)
    begun = await world.begin(session)
    assert begun is not None
    await finish(world, begun)
    return await world.store.transact(sessions.title, session.id)


async def test_an_unnamed_session_is_shown_by_the_first_line_a_person_wrote(world: World) -> None:
    session = await unnamed(world)
    assert session.title == f"New session {session.id[:4]}"
    assert await say(world, session, "Fix the login.\nIt fails.") == "Fix the login."
    assert await say(world, session, "And the logout.") == "Fix the login."


async def test_a_name_that_was_given_stays_the_title(world: World) -> None:
    session = await world.session(name="builder")
    assert await say(world, session, "Fix the login.") == "builder"


async def test_a_name_that_is_given_later_replaces_the_first_line(world: World) -> None:
    session = await unnamed(world)
    await say(world, session, "Fix the login.")
    changes = {"name": "login"}
    changed = await world.store.transact(sessions.change, session.id, changes, world.later())
    assert changed.title == "login"


async def test_a_person_s_words_go_before_those_of_agents_and_automations(world: World) -> None:
    session = await unnamed(world)
    assert await say(world, session, "Nightly check.", origin=Origin.AGENT) == "Nightly check."
    assert await say(world, session, "Something else.", origin=Origin.AGENT) == "Nightly check."
    assert await say(world, session, "What did you find?") == "What did you find?"


async def test_reminders_and_notices_give_no_title(world: World) -> None:
    session = await unnamed(world)
    new = f"New session {session.id[:4]}"
    assert await say(world, session, "[sm remind] Report.", origin=Origin.REMINDER) == new
    notice = {"notice": "stopped"}
    assert await say(world, session, "[sm] a", origin=Origin.AGENT, metadata=notice) == new


async def test_the_new_title_is_announced_when_the_turn_begins(world: World) -> None:
    session = await unnamed(world)
    await world.begun(session, "Fix the login.")
    updates = [event for event in world.published if event.type == "session_update"]
    titles = [event.payload["session"]["title"] for event in updates]
    assert titles == [f"New session {session.id[:4]}", "Fix the login."]


async def test_a_terminal_that_navi_took_in_is_shown_by_its_folder_until_something_is_said(
    world: World,
) -> None:
    session_id = new_id()
    session = await world.session(id=session_id, name=generated_name(session_id, "shop"))
    assert session.title == f"shop-{session_id[:4]}"
    assert await say(world, session, "Go on.") == "Go on."


async def test_sessions_of_an_older_store_get_their_titles(world: World) -> None:
    by_person, by_agent, named, silent = [
        await unnamed(world),
        await unnamed(world),
        await world.session(name="named"),
        await unnamed(world),
    ]
    await say(world, by_person, "From an agent.", origin=Origin.AGENT)
    await say(world, by_person, "From a person.\nMore.")
    await say(world, by_agent, "[sm remind] Report.", origin=Origin.REMINDER)
    await say(world, by_agent, "From an agent.", origin=Origin.AGENT)
    await say(world, named, "From a person.")

    await world.store.transact(_migrate_again)

    expected = {
        by_person: "From a person.",
        by_agent: "From an agent.",
        named: "named",
        silent: f"New session {silent.id[:4]}",
    }
    for session, title in expected.items():
        assert await world.store.transact(sessions.title, session.id) == title


def _migrate_again(connection: Connection) -> None:
    """Undo the migration that added titles, and run it again."""
    for column in ("opening", "opening_origin"):
        connection.execute(text(f"ALTER TABLE sessions DROP COLUMN {column}"))
    migration = import_module("navi.live.store.engine.migrations.versions.0008_session_titles")
    with Operations.context(MigrationContext.configure(connection)):
        migration.upgrade()
