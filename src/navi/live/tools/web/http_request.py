"""Fetches a page or calls a web API.

By default only the public internet is reachable. Each name is resolved once, and the connection
goes to the address that was checked, even if the name resolves to another one by then.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from navi.base.errors import NotAllowed
from navi.live.model.tool import ToolContext, ToolResult
from navi.live.tools.argument_types import Arguments, NonBlank
from navi.live.tools.web import public_address
from navi.live.tools.web.public_address import Address
from navi.live.tools.web.web_request import Request, parse_url, require_headers
from navi.live.tools.web.web_response import describe

if TYPE_CHECKING:  # slow to import, so imported by the first call
    import httpx2

MAXIMUM_REDIRECTS = 5


class HttpRequestArguments(Arguments):
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] = "GET"
    url: NonBlank = Field(description="http:// or https://")
    headers: dict[str, str] | None = None
    body: str | None = Field(None, description="sent as UTF-8")
    timeout_seconds: float = Field(30, gt=0, le=300)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """Every redirect is checked like the first URL. Network failures are returned as results, not
    raised."""

    allow_private: bool = False
    body_limit_bytes: int = 50_000
    resolve: Callable[[str], Awaitable[Sequence[Address]]] = public_address.resolve
    is_public: Callable[[Address], bool] = public_address.is_public

    name: ClassVar[str] = "http_request"
    arguments: ClassVar[type[HttpRequestArguments]] = HttpRequestArguments

    @property
    def description(self) -> str:
        reach = "" if self.allow_private else " Reaches only addresses on the public internet."
        return (
            "Sends an HTTP request and returns the status, a few headers and the body as text, cut "
            f"after {self.body_limit_bytes:,} bytes. Follows redirects.{reach}"
        )

    async def run(self, context: ToolContext, arguments: HttpRequestArguments) -> ToolResult:
        import httpx2

        request = Request(
            arguments.method,
            parse_url(arguments.url),
            require_headers(arguments.headers or {}),
            (arguments.body or "").encode(),
        )
        timeout = arguments.timeout_seconds
        try:
            async with asyncio.timeout(timeout):
                return await self._follow(request, timeout)
        except TimeoutError:
            unit = "second" if timeout == 1 else "seconds"
            return ToolResult(
                f"there was no complete answer within {timeout:g} {unit}", is_error=True
            )
        except _Unreachable as error:
            return ToolResult(str(error), is_error=True)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            return ToolResult(f"the request failed: {_reason(error)}", is_error=True)

    async def _follow(self, request: Request, timeout: float) -> ToolResult:
        for _ in range(MAXIMUM_REDIRECTS + 1):
            result_or_redirect = await self._send(request, timeout)
            if isinstance(result_or_redirect, ToolResult):
                return result_or_redirect
            request = result_or_redirect
        return ToolResult(
            f"gave up after {MAXIMUM_REDIRECTS} redirects; the next was {request.shown_url}",
            is_error=True,
        )

    async def _send(self, request: Request, timeout: float) -> ToolResult | Request:
        """The result, or the request to send next if the server redirects."""
        import httpx2

        addresses = await self._addresses(request.url)
        tls = await asyncio.to_thread(_tls_context, request.url.scheme)
        # An address that doesn't answer must leave time for the others.
        timeouts = httpx2.Timeout(None, connect=timeout / len(addresses))
        failure: Exception | None = None
        for address in addresses:
            # A new client each time, so that no cookie reaches another server. Proxies from the
            # environment are ignored, because they would resolve the name themselves.
            client = httpx2.AsyncClient(verify=tls, timeout=timeouts, trust_env=False)
            async with client:
                try:
                    async with client.stream(**request.stream_arguments(address)) as response:
                        if response.has_redirect_location:
                            return request.redirected(
                                response.status_code, response.headers["location"]
                            )
                        return await describe(response, request.shown_url, self.body_limit_bytes)
                except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                    failure = error
        raise _Unreachable(f"could not connect to {request.url.host}: {_reason(failure)}")

    async def _addresses(self, url: httpx2.URL) -> Sequence[Address]:
        try:
            addresses = await self.resolve(url.raw_host.decode("ascii"))
        except (OSError, ValueError) as error:
            raise _Unreachable(f"could not find the address of {url.host}") from error
        if not addresses:
            raise _Unreachable(f"{url.host} has no address")
        if not self.allow_private and not all(map(self.is_public, addresses)):
            raise NotAllowed(
                f"{url.host} is not on the public internet",
                hint="private addresses are refused unless the settings allow them",
            )
        return addresses


class _Unreachable(Exception):
    """The message says what could not be reached."""


def _tls_context(scheme: str) -> ssl.SSLContext:
    """Create a TLS context. Loads certificates only for https, because that is slow."""
    import httpx2

    if scheme == "https":
        return httpx2.create_ssl_context()
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _reason(error: BaseException | None) -> str:
    """The message of the original error, because those that wrap it are less specific."""
    reason = ""
    while error is not None:
        if isinstance(error, OSError) and error.errno and not isinstance(error, ssl.SSLError):
            reason = os.strerror(error.errno)
        else:
            reason = str(error) or reason
        error = error.__cause__ or error.__context__
    return reason or "no answer"
