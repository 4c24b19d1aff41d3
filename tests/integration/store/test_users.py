from __future__ import annotations

import pytest

from navi.base.errors import Conflict
from navi.live.model.access.user import Role, User
from navi.live.store import sessions
from navi.live.store.access import users
from tests.store_world import NOON, World


async def test_a_user_is_found_by_the_digest_of_their_token(world: World) -> None:
    ada = User("ada", Role.USER, NOON, {"timezone": "Europe/Paris"})
    await world.store.transact(users.add, ada, "digest")

    assert await world.store.transact(users.by_token, "digest") == ada
    assert await world.store.transact(users.by_token, "other") is None


@pytest.mark.parametrize("name", ["ada", "local"])
async def test_a_name_is_given_once(world: World, name: str) -> None:
    await world.store.transact(users.add, User("ada", Role.USER, NOON), "one")
    with pytest.raises(Conflict):
        await world.store.transact(users.add, User(name, Role.USER, NOON), "two")


async def test_sessions_are_listed_by_owner_and_parent_newest_activity_first(world: World) -> None:
    old = await world.session(user_id="ada")
    world.later()
    child = await world.session(user_id="ada", parent_id=old.id)
    foreign = await world.session(user_id="bob")
    await world.admit(old)

    of_ada = await world.store.transact(sessions.list_sessions, user_id="ada")
    assert [session.id for session in of_ada] == [old.id, child.id]
    children = await world.store.transact(sessions.list_sessions, user_id=None, parent_id=old.id)
    assert [session.id for session in children] == [child.id]
    everyone = await world.store.transact(sessions.list_sessions, user_id=None)
    assert foreign.id in [session.id for session in everyone]
