from __future__ import annotations

from navi.live.model.access.caller import Caller
from navi.live.model.access.user import Role, User
from navi.live.store import sessions
from navi.live.store.access import session_tokens, user_removal, users
from tests.store_world import NOON, World


async def caller_of(world: World, token_sha256: str) -> Caller | None:
    return await world.store.transact(users.by_session_token, token_sha256, world.now)


async def test_a_token_stands_for_its_session_and_its_sessions_user(world: World) -> None:
    ada = User("ada", Role.USER, NOON)
    await world.store.transact(users.add, ada, "hers")
    of_ada, of_local = await world.session(user_id="ada"), await world.session()
    for session, token in ((of_ada, "one"), (of_local, "two")):
        await world.store.transact(session_tokens.add, session.id, token, world.later())

    assert await caller_of(world, "one") == Caller(ada, of_ada.id)
    agent = await caller_of(world, "two")
    assert agent is not None
    assert (agent.session_id, agent.user.role) == (of_local.id, Role.ADMIN)
    assert await caller_of(world, "three") is None
    # It is not a person's token.
    assert await world.store.transact(users.by_token, "one") is None


async def test_the_tokens_of_a_session_that_was_killed_are_void_for_good(world: World) -> None:
    session, other = await world.session(), await world.session()
    for each, token in ((session, "one"), (other, "two")):
        await world.store.transact(session_tokens.add, each.id, token, world.later())

    await world.store.transact(sessions.kill, session.id, world.later())
    await world.store.transact(session_tokens.add, session.id, "late", world.later())

    assert await caller_of(world, "one") is None
    assert await caller_of(world, "late") is None
    assert await caller_of(world, "two") is not None


async def test_the_tokens_of_a_session_that_was_deleted_are_void(world: World) -> None:
    session = await world.session()
    await world.store.transact(session_tokens.add, session.id, "one", world.later())
    await world.store.transact(sessions.remove, session.id, world.later())
    assert await caller_of(world, "one") is None


async def test_the_agents_of_a_removed_user_have_no_access_even_if_the_name_comes_back(
    world: World,
) -> None:
    ada = User("ada", Role.ADMIN, NOON)
    await world.store.transact(users.add, ada, "hers")
    session = await world.session(user_id="ada")
    await world.store.transact(session_tokens.add, session.id, "before", world.later())

    await world.store.transact(user_removal.remove, "ada", world.later())
    await world.store.transact(session_tokens.add, session.id, "after", world.later())
    assert await caller_of(world, "before") is None
    assert await caller_of(world, "after") is None

    await world.store.transact(users.add, ada, "new")
    assert await caller_of(world, "before") is None


async def test_only_the_newest_tokens_of_a_session_are_kept(world: World) -> None:
    session, other = await world.session(), await world.session()
    await world.store.transact(session_tokens.add, other.id, "of another", world.later())
    names = [f"token {number}" for number in range(session_tokens.TOKENS_PER_SESSION + 2)]
    for name in names:
        for _ in range(2):  # after a lost connection an operation runs again
            await world.store.transact(session_tokens.add, session.id, name, world.later())

    valid = [name for name in names if await caller_of(world, name) is not None]
    assert valid == names[2:]
    assert await caller_of(world, "of another") is not None
