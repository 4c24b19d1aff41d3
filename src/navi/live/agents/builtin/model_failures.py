"""Turns model errors into short messages for people, without secrets."""

from __future__ import annotations

import logging
import re
from datetime import timedelta

from navi.base.errors import AgentFailed, NaviError, UsageLimit
from navi.base.shortened_text import shortened
from navi.live.agents.builtin.models import Endpoint

DETAIL_LIMIT = 200
LONGEST_RESET_SECONDS = 31 * 86_400
"""No vendor's limit lasts longer than a month."""

_SECRET = re.compile(r"\b(?:sk|pk)-[\w*-]{6,}|\bBearer\s+\S+", re.IGNORECASE)
_log = logging.getLogger(__name__)


def failure_of(error: Exception, endpoint: Endpoint | None) -> NaviError:
    """The error to show to people. `endpoint` is None for the scripted model."""
    from pydantic_ai import exceptions

    if isinstance(error, NaviError):
        return error
    if isinstance(error, exceptions.ModelAPIError) and endpoint is not None:
        return _usage_limit(error, endpoint) or _provider_failure(error, endpoint)
    if isinstance(error, exceptions.AgentRunError):
        return AgentFailed(
            f"the model's answer can't be used: {_masked_and_shortened(error.message)}"
        )
    _log.error("the built-in agent failed unexpectedly", exc_info=error)
    return AgentFailed(
        f"the agent failed unexpectedly ({type(error).__name__})", hint="see the server's log"
    )


def _usage_limit(error: Exception, endpoint: Endpoint) -> UsageLimit | None:
    from pydantic_ai import exceptions

    title, suffix = endpoint.title, _status_suffix(error)
    seconds = getattr(error, "retry_after", None)
    resets_in = timedelta(seconds=min(seconds, LONGEST_RESET_SECONDS)) if seconds else None
    when = f"in {seconds:.0f} s" if seconds else "in a minute"
    match error:
        case exceptions.ModelQuotaExceededError():
            return UsageLimit(
                f"the {title} account has no credit left{suffix}",
                hint="check its plan and billing",
                limit_kind="credit",
            )
        case exceptions.ModelRateLimitError():
            return UsageLimit(
                f"too many requests to {title}{suffix}",
                resets_in=resets_in,
                hint=f"try again {when}",
                limit_kind="requests",
            )
        case exceptions.ModelOverloadedError():
            return UsageLimit(
                f"{title} is overloaded{suffix}",
                resets_in=resets_in,
                hint=f"try again {when}",
                limit_kind="overload",
            )
    return None


def _status_suffix(error: Exception) -> str:
    status = getattr(error, "status_code", None)
    return f" (HTTP {status})" if status else ""


def _provider_failure(error: Exception, endpoint: Endpoint) -> AgentFailed:
    from pydantic_ai import exceptions

    title, provider, suffix = endpoint.title, endpoint.provider, _status_suffix(error)
    match error:
        case exceptions.ModelAuthenticationError():
            return AgentFailed(
                f"{title} did not accept the API key{suffix}", hint=f"check {provider.key_variable}"
            )
        case exceptions.ModelNotFoundError():
            return AgentFailed(
                f"{title} has no model {endpoint.model}{suffix}",
                hint=f"check the model's name, and {provider.url_variable} if it is set",
            )
        case exceptions.ModelContextWindowExceededError():
            return AgentFailed(
                f"the conversation is too long for {endpoint.model}",
                hint="clear the session, or lower `history_tokens` in Navi's settings",
            )
        case exceptions.ModelUnavailableError() | exceptions.ModelServerError():
            return AgentFailed(f"{title} is unavailable{suffix}", hint="try again in a minute")
        case exceptions.ModelTimeoutError() | exceptions.ModelRequestTimeout():
            return AgentFailed(f"{title} took too long to answer", hint="try again in a minute")
        case exceptions.ModelConnectionError():
            return AgentFailed(
                f"no connection to {endpoint.address}",
                hint=f"check the network, and {provider.url_variable} if it is set",
            )
        case _:
            return AgentFailed(f"{title} refused the request{suffix}{_detail(error, endpoint)}")


def _detail(error: Exception, endpoint: Endpoint) -> str:
    """The provider's own message, if it sent one."""
    body = getattr(error, "body", None)
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    message = body.get("message") if isinstance(body, dict) else body
    if not message:
        return ""
    return ": " + _masked_and_shortened(str(message).replace(endpoint.api_key, "…"))


def _masked_and_shortened(text: str) -> str:
    return shortened(" ".join(_SECRET.sub("…", text).split()), DETAIL_LIMIT)
