"""Every error a user can see. The message says what happened, the hint what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

MAX_CALLS_IN_MESSAGE = 10
"""An agent may try many calls; the first few show what it needs."""


class NaviError(Exception):
    """The base class. Subclasses override kind, exit code and HTTP status as needed."""

    kind: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def sentence(self) -> str:
        """Message and hint on one line."""
        return f"{self.message}; {self.hint}" if self.hint else self.message


class InvalidInput(NaviError):
    kind, http_status = "invalid_input", 422


class TooLarge(NaviError):
    kind, http_status = "too_large", 413


class NotAuthenticated(NaviError):
    kind, http_status = "not_authenticated", 401


class NotAllowed(NaviError):
    kind, http_status = "not_allowed", 403


class NotFound(NaviError):
    kind, http_status = "not_found", 404


class UserNotFound(NotFound):
    def __init__(self, user_id: str) -> None:
        super().__init__(f"there is no user {user_id}", hint="`navi user list` lists them all")


class SessionNotFound(NotFound):
    kind = "session_not_found"

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"there is no session {session_id}", hint="GET /sessions lists the ones you may see"
        )


class NotYours(NotAllowed):
    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"session {session_id} belongs to someone else",
            hint="GET /sessions lists the ones you may see",
        )


class InputNotFound(NotFound):
    kind = "input_not_found"

    def __init__(self, input_id: str) -> None:
        super().__init__(
            f"no undelivered input {input_id} in this session",
            hint="it may have been delivered already: see the session's messages",
        )


class Conflict(NaviError):
    kind, http_status = "conflict", 409


class SessionStopped(Conflict):
    kind = "session_stopped"

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"session {session_id} has ended and accepts no more inputs",
            hint="start a new one with POST /sessions",
        )


class SessionBusy(Conflict):
    kind = "session_busy"

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"a turn of session {session_id} is still running",
            hint=f"end it with POST /sessions/{session_id}/stop, then try again",
        )


class StoreUnavailable(NaviError):
    """The store is not responding. Nothing that was admitted is lost."""

    kind, http_status = "store_unavailable", 503


class StoreUnusable(NaviError):
    """The store cannot be opened at all, e.g. because a newer Navi wrote it."""

    kind, exit_code, http_status = "store_unusable", 1, 503


class FenceLost(NaviError):
    """Another process owns this session's lane now, so our pending writes are void."""

    kind, http_status = "fence_lost", 409

    def __init__(self, session_id: str) -> None:
        super().__init__(f"another process took over session {session_id}")


class AgentFailed(NaviError):
    """The agent could not finish its turn. The message is safe to show in the session."""

    kind, http_status = "agent_failed", 502


class NoModel(AgentFailed):
    """The built-in agent has no model to run with."""

    kind, http_status = "no_model", 409

    def __init__(self, *, suggests_other_agents: bool = True) -> None:
        hint = "set ANTHROPIC_API_KEY, OPENAI_API_KEY or NAVI_MODEL and restart the server"
        if suggests_other_agents:
            hint += ", or install Claude Code or Codex"
        super().__init__("no model is set up", hint=hint)


class NotDelivered(AgentFailed):
    """Nothing reached the agent, so the input stays in the queue."""

    kind, http_status = "not_delivered", 409


class OpenElsewhere(NotDelivered):
    """Another process has the conversation open. An input would fork it, so none was sent."""

    kind, http_status = "open_elsewhere", 409

    def __init__(self, agent: str, location: str, agent_session_id: str) -> None:
        self.agent_session_id = agent_session_id
        super().__init__(
            f"this session is open in {agent} elsewhere ({location}), so its inputs wait",
            hint="close it there to deliver them",
        )


class IterationLimit(NaviError):
    """The turn reached its limit of model requests."""

    kind = "max_iterations"

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"stopped after {limit} steps",
            hint="say 'continue', or raise [agent] max_iterations in the settings",
        )


class Interrupted(AgentFailed):
    """A person stopped the agent in its own terminal."""

    kind = "interrupted"

    def __init__(self) -> None:
        super().__init__("the agent was stopped in its terminal")


class PermissionRefused(NaviError):
    """The agent finished, but was not allowed to make these calls."""

    kind, http_status = "denied", 403

    def __init__(self, calls: Sequence[str], *, hint: str = "") -> None:
        distinct = list(dict.fromkeys(calls))
        more = len(distinct) - MAX_CALLS_IN_MESSAGE
        first = ", ".join(distinct[:MAX_CALLS_IN_MESSAGE])
        rest = f" and {more} more" if more > 0 else ""
        super().__init__(f"refused: {first}{rest}", hint=hint)


class UsageLimit(NaviError):
    """The vendor refuses requests for now. It may report when that ends, or how long it lasts."""

    kind, http_status = "limit", 429

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        resets_at: datetime | None = None,
        resets_in: timedelta | None = None,
        limit_kind: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.limit_kind = limit_kind
        self._resets_at = resets_at
        self._resets_in = resets_in

    def resets_at(self, now: datetime) -> datetime | None:
        return self._resets_at if self._resets_in is None else now + self._resets_in


class UsageError(NaviError):
    """The command line or the settings file is not valid."""

    kind, exit_code = "usage", 2
