"""The typed HTTP client: Navi's calls, for `sm` and other programs on a person's machine.

It stands on Python's own `http.client`, and imports even that with the first call only: `sm` is
run by agents again and again, and the libraries that do more take longer to import than the call
itself. One call is one connection, so that a client which waits for minutes never meets one that
was closed meanwhile. Proxies in the environment are not used: the server is nearly always here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote, urlencode, urlsplit

from navi.domain import places
from navi.domain.errors import NaviError, NotAuthenticated, UsageError

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

    from navi.domain.input import DeliveryMode
    from navi.domain.wire import (
        AdmissionJson,
        AutomationJson,
        Json,
        PreviewJson,
        RecallJson,
        RunJson,
        ScheduledJson,
        SessionJson,
    )

TIMEOUT_SECONDS = 30.0
"""Longer than the server waits for a turn that it stops, and than it tries to reach its store."""


class NoServer(NaviError):
    """Nothing answers, or not Navi."""

    kind, exit_code, http_status = "no_server", 2, 503


class ServerRefused(NaviError):
    """What the server said, as it said it."""

    kind: ClassVar[str] = "refused"

    def __init__(self, status: int, said: Mapping[str, Any]) -> None:
        super().__init__(str(said["message"]), hint=str(said.get("hint") or ""))
        self.status = status
        self.said_kind = str(said.get("kind"))


@dataclass(frozen=True, slots=True)
class Server:
    """Where the server is, and the token for it."""

    address: str
    token: str | None
    token_place: str
    """Where the token comes from, or should have come from."""


def find_server(environment: Mapping[str, str] = os.environ) -> Server:
    """`NAVI_URL` and `NAVI_TOKEN`, else what `navi serve` uses on this machine."""
    if url := environment.get("NAVI_URL"):
        address = _checked(url)
    else:
        address = _local_address(environment)
    if token := environment.get("NAVI_TOKEN"):
        return Server(address, token.strip(), "NAVI_TOKEN")
    path = places.token_file(environment)
    try:
        return Server(address, path.read_text().strip() or None, str(path))
    except FileNotFoundError:
        return Server(address, None, str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"can't read the access token {path}", hint="make it readable, or set NAVI_TOKEN"
        ) from error


class Client:
    """Every call is answered, or raises a `NaviError` that says what to do."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._answered_at: datetime | None = None

    def now(self) -> datetime:
        """The server's own time when it last answered, to the second: what ages count from."""
        if self._answered_at is None:
            self.health()
        assert self._answered_at is not None
        return self._answered_at

    def health(self) -> Json:
        found: Json = self._call("GET", "/health")
        return found

    def sessions(
        self, *, parent_id: str | None = None, pending_recall: bool = False
    ) -> list[SessionJson]:
        """Newest activity first."""
        query = {"parent_id": parent_id, "pending_recall": "true" if pending_recall else None}
        found: list[SessionJson] = self._call("GET", "/sessions", query=query)
        return found

    def session(self, session_id: str) -> SessionJson:
        found: SessionJson = self._call("GET", _session(session_id))
        return found

    def create_session(
        self,
        *,
        name: str | None = None,
        driver: str | None = None,
        model: str | None = None,
        cwd: str | None = None,
        parent_id: str | None = None,
    ) -> SessionJson:
        body = {"name": name, "driver": driver, "model": model, "cwd": cwd, "parent_id": parent_id}
        made: SessionJson = self._call("POST", "/sessions", body)
        return made

    def send(
        self,
        session_id: str,
        text: str,
        *,
        delivery_mode: DeliveryMode | None = None,
        sender_session_id: str | None = None,
    ) -> AdmissionJson:
        body = {
            "text": text,
            "delivery_mode": delivery_mode,
            "sender_session_id": sender_session_id,
        }
        admitted: AdmissionJson = self._call("POST", _session(session_id, "/input"), body)
        return admitted

    def stop(self, session_id: str) -> bool:
        """End the running turn. False if none ran."""
        return bool(self._call("POST", _session(session_id, "/stop"))["stopped"])

    def recall(self, session_id: str) -> RecallJson:
        """The pending one."""
        found: RecallJson = self._call("GET", _session(session_id, "/recall"))
        return found

    def recalls(self, session_id: str) -> list[RecallJson]:
        """All of them, the newest first."""
        found: list[RecallJson] = self._call("GET", _session(session_id, "/recalls"))
        return found

    def schedule_recall(
        self,
        session_id: str,
        *,
        call_type: str,
        additional_context_message: str,
        when: str | None = None,
        timezone_offset: str | None = None,
        interval_seconds: int | None = None,
        internal_comment: str | None = None,
    ) -> ScheduledJson:
        body = {
            "call_type": call_type,
            "additional_context_message": additional_context_message,
            "when": when,
            "timezone_offset": timezone_offset,
            "interval_seconds": interval_seconds,
            "internal_comment": internal_comment,
        }
        made: ScheduledJson = self._call("POST", _session(session_id, "/recall"), body)
        return made

    def cancel_recall(self, session_id: str) -> RecallJson:
        cancelled: RecallJson = self._call("DELETE", _session(session_id, "/recall"))
        return cancelled

    def skip_recall(self, session_id: str) -> RecallJson:
        skipped: RecallJson = self._call("POST", _session(session_id, "/recall/skip"))
        return skipped

    def automations(self, session_id: str | None = None) -> list[AutomationJson]:
        """Those of a session, or all that may be seen."""
        path = "/automations" if session_id is None else _session(session_id, "/automations")
        found: list[AutomationJson] = self._call("GET", path)
        return found

    def add_automation(self, session_id: str, **fields: Any) -> AutomationJson:
        made: AutomationJson = self._call("POST", _session(session_id, "/automations"), fields)
        return made

    def preview_automation(self, **schedule: Any) -> PreviewJson:
        meant: PreviewJson = self._call("POST", "/automations/preview", schedule)
        return meant

    def change_automation(self, automation_id: str, **changes: Any) -> AutomationJson:
        path = f"/automations/{quote(automation_id, safe='')}"
        changed: AutomationJson = self._call("PATCH", path, changes)
        return changed

    def remove_automation(self, automation_id: str) -> None:
        self._call("DELETE", f"/automations/{quote(automation_id, safe='')}")

    def automation_runs(self, automation_id: str) -> list[RunJson]:
        """Newest first."""
        path = f"/automations/{quote(automation_id, safe='')}/runs"
        found: list[RunJson] = self._call("GET", path)
        return found

    def ask_mcp(self, request: str, headers: Mapping[str, str]) -> Any:
        """What /mcp answers to a request as it stands; None if it answers nothing."""
        import json

        sent = {**headers, "Content-Type": "application/json"}
        if self._server.token is not None:
            sent |= _bearer(self._server)
        response, text = self._exchange("POST", "/mcp", request.encode(), sent)
        if not text:
            return None
        try:
            answer = json.loads(text)
            if response.status in (401, 403):
                raise self._refusal(response.status, answer["error"])
        except (ValueError, TypeError, KeyError) as error:
            raise self._stranger() from error
        return answer

    def _call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, str | None] | None = None,
    ) -> Any:
        """The answer's JSON. What is None in `body` and `query` is not sent."""
        import json

        asked = urlencode(_given(query or {}))
        headers = {} if self._server.token is None else _bearer(self._server)
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(_given(body)).encode()
        response, text = self._exchange(method, f"{path}?{asked}" if asked else path, data, headers)
        try:
            answer = json.loads(text)
            if response.status >= 400:
                raise self._refusal(response.status, answer["error"])
        except (ValueError, TypeError, KeyError) as error:
            raise self._stranger() from error
        return answer

    def _exchange(
        self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]
    ) -> tuple[HTTPResponse, bytes]:
        from email.utils import parsedate_to_datetime
        from http.client import HTTPException

        connection = _connection(self._server.address)
        try:
            connection.request(method, path, data, {"Connection": "close", **headers})
            response = connection.getresponse()
            text = response.read()
            self._answered_at = parsedate_to_datetime(response.getheader("Date", ""))
        except TimeoutError as error:
            raise NoServer(
                f"the server at {self._server.address} did not answer within "
                f"{TIMEOUT_SECONDS:.0f} seconds",
                hint="`navi doctor` checks the installation",
            ) from error
        except (OSError, UnicodeError) as error:
            raise self._nobody(error) from error
        except (HTTPException, ValueError) as error:
            raise self._stranger() from error
        finally:
            connection.close()
        return response, text

    def _refusal(self, status: int, said: Mapping[str, Any]) -> NaviError:
        if status != 401:
            return ServerRefused(status, said)
        server = self._server
        hint = "set NAVI_TOKEN to the token in the link that `navi serve` prints, or to your own"
        if server.token is None:
            message = f"there is no access token: neither NAVI_TOKEN nor {server.token_place}"
        else:
            message = f"{server.address} does not accept the access token of {server.token_place}"
        return NotAuthenticated(message, hint=hint)

    def _nobody(self, error: OSError | UnicodeError) -> NoServer:
        why = "" if isinstance(error, ConnectionRefusedError) else f": {error}"
        return NoServer(
            f"no server answers at {self._server.address}{why}",
            hint="start it with `navi serve`, or set NAVI_URL to where it runs",
        )

    def _stranger(self) -> NoServer:
        return NoServer(
            f"what answers at {self._server.address} is not Navi",
            hint="set NAVI_URL to the address that `navi serve` prints",
        )


def _session(session_id: str, rest: str = "") -> str:
    return f"/sessions/{quote(session_id, safe='')}{rest}"


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _bearer(server: Server) -> dict[str, str]:
    token = server.token or ""
    if not token.isascii() or not token.isprintable():
        raise UsageError(
            f"the access token of {server.token_place} has characters that no token has",
            hint="set NAVI_TOKEN to the token in the link that `navi serve` prints",
        )
    return {"Authorization": f"Bearer {token}"}


def _connection(address: str) -> HTTPConnection:
    from http.client import HTTPConnection, HTTPSConnection

    kind = HTTPSConnection if address.startswith("https:") else HTTPConnection
    return kind(urlsplit(address).netloc, timeout=TIMEOUT_SECONDS)


def _checked(url: str) -> str:
    """The scheme, host and port of `NAVI_URL`, or a refusal that shows what it should be."""
    example = places.address(places.DEFAULT_HOST, places.DEFAULT_PORT)
    refusal = UsageError(f"NAVI_URL={url} is no address", hint=f"like NAVI_URL={example}")
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise refusal from error
    if parts.scheme not in ("http", "https") or not host:
        raise refusal
    shown = f"[{host}]" if ":" in host else host
    plain = f"{parts.scheme}://{shown}" + ("" if port is None else f":{port}")
    if parts.path not in ("", "/") or parts.query or parts.fragment or parts.username:
        raise UsageError("NAVI_URL says more than an address", hint=f"set it to {plain}")
    return plain


def _local_address(environment: Mapping[str, str]) -> str:
    """Where `navi serve` listens by its settings, read without the libraries that check them."""
    settings = _server_settings(environment)
    host = environment.get("NAVI_SERVER_HOST") or settings.get("host", places.DEFAULT_HOST)
    port = str(environment.get("NAVI_SERVER_PORT") or settings.get("port", places.DEFAULT_PORT))
    if not port.isdecimal() or not 0 < int(port) < 65_536:
        raise UsageError(
            f"the setting server.port is {port}: it does not say where the server is",
            hint="set NAVI_URL to the address that `navi serve` prints",
        )
    return places.address(str(host), int(port))


def _server_settings(environment: Mapping[str, str]) -> Mapping[str, Any]:
    path = places.settings_file(environment)
    try:
        text = path.read_text()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"can't read {path}", hint="correct the file, or set NAVI_URL") from error
    import tomllib

    try:
        section = tomllib.loads(text).get("server", {})
    except tomllib.TOMLDecodeError as error:
        raise UsageError(
            f"can't read {path}: {error}", hint="correct the file, or set NAVI_URL"
        ) from error
    return section if isinstance(section, dict) else {}
