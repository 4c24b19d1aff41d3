"""Who makes a call: a person, or the agent of a session."""

from __future__ import annotations

from dataclasses import dataclass

from navi.base.errors import NotAllowed
from navi.live.model.access.user import User


@dataclass(frozen=True, slots=True)
class Caller:
    """An agent has the rights of its session's user, and no more."""

    user: User
    session_id: str | None = None
    """The session whose agent calls, as its token says; None for a person."""

    def acting_session(self, named: str | None) -> str | None:
        """The session that the call speaks for: an agent's own, or whichever a person names."""
        if self.session_id is None:
            return named
        if named not in (None, self.session_id):
            raise NotAllowed(
                f"an agent of session {self.session_id} can't act as session {named}",
                hint="leave the session out: the token says which one is calling",
            )
        return self.session_id

    def require_person(self) -> None:
        if self.session_id is not None:
            raise NotAllowed(
                "an agent's token can't be used for this", hint="ask the person you work for"
            )
