"""Sends calls as JSON and explains failures.

Each call opens its own connection, so a client that pauses for minutes never finds its connection
closed. Proxies from the environment are ignored: the server is nearly always on this machine.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from navi.base import server_version
from navi.base.errors import NaviError, NotAuthenticated
from navi.base.token import SESSION_TOKEN
from navi.client.client_errors import NoServer, ServerRefused
from navi.client.exchange import Answer, NotHttp, exchange
from navi.client.server_address import TOKEN_HINT, Server, authorization_header

if TYPE_CHECKING:
    from navi.client.event_stream import Events

TIMEOUT_SECONDS = 30.0
"""The server may wait for a stopped turn to end, or for its store. This is longer than either."""


class JsonCalls:
    """Sends calls to one server, with the token and the session of the caller."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._date: str | None = None

    def now(self) -> datetime:
        """The server's time at its last answer, to the second. Use it to compute relative times."""
        from email.utils import parsedate_to_datetime

        if self._date is None:
            self._call("GET", "/health")
        assert self._date is not None
        try:
            return parsedate_to_datetime(self._date)
        except ValueError as error:
            raise self._not_navi() from error

    def _call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, str | None] | None = None,
        keep_none: bool = False,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> Any:
        """The answer's JSON. Nones are left out of `query` and, unless `keep_none`, of `body`."""
        import json

        parameters = urlencode(_without_none(query or {}))
        headers = self._headers()
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body if keep_none else _without_none(body)).encode()
        answer = self._exchange(
            method,
            f"{path}?{parameters}" if parameters else path,
            data,
            headers,
            timeout_seconds,
        )
        try:
            value = json.loads(answer.body)
            if answer.status >= 400:
                raise self._refusal(answer.status, value["error"])
        except (ValueError, TypeError, KeyError) as error:
            raise self._not_navi() from error
        return value

    def _open_events(self, path: str) -> Events:
        from websockets.exceptions import WebSocketException
        from websockets.sync.client import connect

        from navi.client.event_stream import Events

        address = "ws" + self._server.address.removeprefix("http")
        try:
            return Events(
                connect(
                    address + path, additional_headers=self._headers(), max_size=None, proxy=None
                )
            )
        except OSError as error:
            raise self._no_answer(error) from error
        except WebSocketException as error:
            raise self._not_navi() from error

    def _headers(self) -> dict[str, str]:
        headers = {} if self._server.token is None else authorization_header(self._server)
        if session_id := os.environ.get("NAVI_SESSION_ID"):
            # An agent is calling, not a person.
            headers["Navi-Session"] = session_id
        return headers

    def _exchange(
        self,
        method: str,
        path: str,
        data: bytes | None,
        headers: Mapping[str, str],
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> Answer:
        address = self._server.address
        try:
            answer = exchange(address, method, path, data, headers, timeout_seconds)
        except TimeoutError as error:
            raise NoServer(
                f"the server at {address} did not answer within {timeout_seconds:.0f} seconds",
                hint="`navi doctor` checks the installation",
            ) from error
        except (OSError, UnicodeError) as error:
            raise self._no_answer(error) from error
        except NotHttp as error:
            raise self._not_navi() from error
        self._date = answer.date
        if answer.version is not None:
            server_version.remember(answer.version)
        return answer

    def _refusal(self, status: int, error: Mapping[str, Any]) -> NaviError:
        server = self._server
        if status != 401 or (server.token or "").startswith(SESSION_TOKEN):
            return ServerRefused(status, error)
        if server.token is None:
            sources = dict.fromkeys(("NAVI_TOKEN", server.token_source))
            message = f"no access token in {' or '.join(sources)}"
        else:
            message = f"{server.address} rejected the access token from {server.token_source}"
        return NotAuthenticated(message, hint=TOKEN_HINT)

    def _no_answer(self, error: OSError | UnicodeError) -> NoServer:
        reason = "" if isinstance(error, ConnectionRefusedError) else f": {error}"
        return NoServer(
            f"no server answers at {self._server.address}{reason}",
            hint="start it with `navi serve`, or in the background with `navi service install`; "
            "if it runs elsewhere, set NAVI_URL",
        )

    def _not_navi(self) -> NoServer:
        return NoServer(
            f"the server at {self._server.address} is not Navi",
            hint="set NAVI_URL to the address that `navi serve` prints",
        )


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
