"""The tokens that sessions' agents use to call this server."""

from __future__ import annotations

from navi.base.clock import Clock
from navi.base.token import SESSION_TOKEN
from navi.live.runtime.services.server_token import digest, new_token
from navi.live.store.access import session_tokens
from navi.live.store.engine.transactions import Store


class AgentTokens:
    """Issues a token to the agent of each session.

    The store has only the tokens' digests, so a restarted server issues new tokens. The old ones
    stay valid, because agents outlive servers.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._tokens: dict[str, str] = {}

    async def token_for(self, session_id: str) -> str:
        """The session's token, made on first use and replaced when it is no longer valid."""
        token = self._tokens.get(session_id)
        if token is None or not await self._is_valid(token):
            token = new_token(SESSION_TOKEN)
            await self._store.transact(
                session_tokens.add, session_id, digest(token), self._clock.now()
            )
            self._tokens[session_id] = token
        return token

    async def _is_valid(self, token: str) -> bool:
        return await self._store.transact(session_tokens.owner_of, digest(token)) is not None
