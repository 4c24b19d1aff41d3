"""Tokens of the server and of sessions' agents."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from navi.base.errors import NotAuthenticated
from navi.base.system_clock import SystemClock
from navi.live.model.access.user import Role, User
from navi.live.model.session import Session
from navi.live.runtime.services.accounts import Accounts
from navi.live.runtime.services.agent_tokens import AgentTokens
from navi.live.runtime.services.server_token import ServerToken
from navi.live.store import sessions
from navi.live.store.access import session_tokens, users
from navi.live.store.engine.transactions import Store
from tests.store_world import NOON, World, store_world


class Server:
    """The accounts of one of several servers on the same store."""

    def __init__(self, store: Store) -> None:
        self.tokens = AgentTokens(store, SystemClock())
        own = ServerToken("the token of the server")
        self.accounts = Accounts(store, SystemClock(), own, timedelta(days=1))


@pytest.fixture
async def world(prepared_url: str) -> AsyncIterator[World]:
    async with store_world(prepared_url) as world:
        yield world


@pytest.fixture
async def session(world: World) -> Session:
    await world.store.transact(users.add, User("ada", Role.USER, NOON), "hers")
    return await world.session(user_id="ada")


async def test_each_server_gives_a_session_one_token_and_takes_those_of_all(
    world: World, session: Session
) -> None:
    servers = [Server(world.store), Server(world.store)]
    tokens = [await server.tokens.token_for(session.id) for server in servers]

    assert [await server.tokens.token_for(session.id) for server in servers] == tokens
    assert len(set(tokens)) == 2
    for server in servers:
        for token in tokens:
            agent = await server.accounts.authenticate(token)
            assert (agent.session_id, agent.user.id) == (session.id, "ada")


async def test_plain_tokens_are_not_stored(world: World, session: Session) -> None:
    token = await Server(world.store).tokens.token_for(session.id)
    secret = token.removeprefix("navi_session_")
    assert len(secret) >= 43
    if world.store.dialect.kind == "sqlite":
        files = Path(world.url.removeprefix("sqlite:///")).parent.glob("navi.sqlite3*")
        assert not any(secret.encode() in file.read_bytes() for file in files)


async def test_a_void_token_is_replaced_and_stays_void(world: World, session: Session) -> None:
    server = Server(world.store)
    void = await server.tokens.token_for(session.id)
    await world.store.transact(session_tokens.void, session.id)

    assert await server.tokens.token_for(session.id) != void
    with pytest.raises(NotAuthenticated, match="no longer valid"):
        await server.accounts.authenticate(void)


async def test_the_agent_of_a_session_that_has_ended_is_told_so(
    world: World, session: Session
) -> None:
    server = Server(world.store)
    token = await server.tokens.token_for(session.id)
    await world.store.transact(sessions.kill, session.id, world.later())
    with pytest.raises(NotAuthenticated, match="its session has ended"):
        await server.accounts.authenticate(token)


def test_a_server_that_an_agent_starts_has_a_token_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAVI_TOKEN", "navi_session_of-the-agent")
    made = ServerToken.find(tmp_path).value
    assert made.startswith("navi_")
    assert made == (tmp_path / "token").read_text().strip()
    monkeypatch.setenv("NAVI_TOKEN", "the-token-of-a-person")
    assert ServerToken.find(tmp_path).value == "the-token-of-a-person"
