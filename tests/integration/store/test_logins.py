from __future__ import annotations

import asyncio
from datetime import timedelta

from navi.live.model.access.login import Login
from navi.live.model.access.user import Role, User
from navi.live.store.access import logins, users
from tests.store_world import NOON, World

MONTH = timedelta(days=30)
OLDEST = NOON - MONTH


def login_of(user_id: str, **fields: object) -> Login:
    values = {"owner_sha256": "owner", "created_at": NOON, "last_used_at": NOON, **fields}
    return Login(user_id, **values)  # type: ignore[arg-type]


async def test_a_login_is_found_by_the_digest_of_its_token(world: World) -> None:
    ada = login_of("ada")
    await world.store.transact(logins.begin, "one", ada, OLDEST)

    assert await world.store.transact(logins.use, "one", NOON, OLDEST) == ada
    assert await world.store.transact(logins.use, "two", NOON, OLDEST) is None


async def test_a_login_that_is_used_stays_and_one_that_is_not_expires(world: World) -> None:
    await world.store.transact(logins.begin, "one", login_of("ada"), OLDEST)

    async def works_after(days: int) -> bool:
        now = NOON + timedelta(days=days)
        return await world.store.transact(logins.use, "one", now, now - MONTH) is not None

    assert await works_after(20)
    assert await works_after(45)
    assert not await works_after(76)


async def test_expired_logins_are_deleted_when_one_begins(world: World) -> None:
    old = login_of("ada", last_used_at=OLDEST - timedelta(seconds=1))
    await world.store.transact(logins.begin, "old", old, OLDEST - MONTH)
    await world.store.transact(logins.begin, "new", login_of("bob"), OLDEST)

    left = await world.store.transact(logins.list_logins, OLDEST - MONTH)
    assert [login.user_id for login in left] == ["bob"]


async def test_of_many_browsers_that_open_one_link_at_once_one_is_logged_in(world: World) -> None:
    await world.store.transact(logins.add_code, "code", "ada", NOON + MONTH, NOON)

    tries = [
        world.store.transact(logins.redeem, "code", f"browser {number}", login_of("ada"), OLDEST)
        for number in range(8)
    ]

    assert sorted(await asyncio.gather(*tries)) == [False] * 7 + [True]
    assert len(await world.store.transact(logins.list_logins, OLDEST)) == 1


async def test_a_code_that_is_redeemed_again_after_a_lost_answer_logs_in_once(world: World) -> None:
    await world.store.transact(logins.add_code, "code", "ada", NOON + MONTH, NOON)
    for _ in range(2):
        assert await world.store.transact(logins.redeem, "code", "browser", login_of("ada"), OLDEST)
    assert len(await world.store.transact(logins.list_logins, OLDEST)) == 1


async def test_a_code_is_good_for_its_user_and_until_it_expires(world: World) -> None:
    minute = timedelta(minutes=1)
    await world.store.transact(logins.add_code, "code", "ada", NOON + minute, NOON)

    async def works(login: Login) -> bool:
        return await world.store.transact(logins.redeem, "code", "browser", login, OLDEST)

    assert not await works(login_of("bob"))
    assert not await works(login_of("ada", created_at=NOON + minute))
    assert await works(login_of("ada"))


async def test_a_users_logins_and_unused_codes_end_together(world: World) -> None:
    for name in ("ada", "bob"):
        await world.store.transact(logins.begin, f"{name} 1", login_of(name), OLDEST)
        await world.store.transact(logins.begin, f"{name} 2", login_of(name), OLDEST)
        await world.store.transact(logins.add_code, f"{name}'s", name, NOON + MONTH, NOON)

    assert await world.store.transact(logins.end, "ada 1") == 1
    assert await world.store.transact(logins.end_all, "ada") == 1

    for name, works in (("ada", False), ("bob", True)):
        redeemed = await world.store.transact(
            logins.redeem, f"{name}'s", f"{name} 3", login_of(name), OLDEST
        )
        assert redeemed is works
    assert await world.store.transact(logins.end_all, None) == 3


async def test_a_replaced_token_finds_its_user_and_the_old_one_nobody(world: World) -> None:
    ada = User("ada", Role.USER, NOON)
    await world.store.transact(users.add, ada, "old")
    await world.store.transact(users.replace_token, "ada", "new")

    assert await world.store.transact(users.by_token, "old") is None
    assert await world.store.transact(users.by_token, "new") == ada
    assert await world.store.transact(users.token_digest, "ada") == "new"
    assert await world.store.transact(users.token_digest, "bob") is None
