"""Who is calling: a person, or the agent of a session."""

from __future__ import annotations

from dataclasses import dataclass

from navi.base.errors import NotAllowed
from navi.live.model.access.user import User


@dataclass(frozen=True, slots=True)
class Caller:
    """An agent has exactly the rights of its session's user."""

    user: User
    session_id: str | None = None
    """The session of the calling agent, from its token; None for a person."""

    def acting_session(self, session_id: str | None) -> str | None:
        """The session on whose behalf to act: an agent's own, or the one that a person names."""
        if self.session_id is None:
            return session_id
        if session_id not in (None, self.session_id):
            raise NotAllowed(
                f"an agent of session {self.session_id} can't act as session {session_id}",
                hint="leave out the session: the token says which one is calling",
            )
        return self.session_id

    def require_person(self) -> None:
        if self.session_id is not None:
            raise NotAllowed("an agent can't do this", hint="ask the person you work for")
