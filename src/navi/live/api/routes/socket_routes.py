"""/ws: events as they happen, starting where the client left off.

Each socket has one task that reads and at least one that sends. The reader always runs, because a
socket that only sends does not notice that its client is gone.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from typing import Any

from starlette.routing import WebSocketRoute
from starlette.websockets import (
    WebSocket,
    WebSocketDisconnect,
    WebSocketDisconnected,
    WebSocketState,
)

from navi.base.errors import InvalidInput, NaviError, NotAuthenticated
from navi.base.stored_text import require_storable
from navi.live.api import login_cookie, query_parameters, request_bodies
from navi.live.api.access import authenticate, token_of
from navi.live.api.connection_limits import mark_authenticated
from navi.live.api.routes.input_routes import admit
from navi.live.model.access.caller import Caller
from navi.live.model.access.user import User
from navi.live.model.validation import validate
from navi.live.model.wire_format import admission_json, error_json
from navi.live.runtime.app import Navi
from navi.live.runtime.broadcast import Frame
from navi.live.runtime.index_follower import index_state_json

FIRST_FRAME_SECONDS = 10.0
CHECK_TOKEN_SECONDS = 5.0
DISCONNECTED = (WebSocketDisconnect, WebSocketDisconnected)
"""Raised when the client has disconnected."""

log = logging.getLogger("navi.api")


def routes() -> list[WebSocketRoute]:
    return [WebSocketRoute("/ws/sessions/{id}", watch_session), WebSocketRoute("/ws", watch_all)]


async def watch_session(socket: WebSocket) -> None:
    with suppress(*DISCONNECTED):
        await _Watcher(socket, socket.path_params["id"]).run()


async def watch_all(socket: WebSocket) -> None:
    with suppress(*DISCONNECTED):
        await _Watcher(socket, None).run()


class _Watcher:
    def __init__(self, socket: WebSocket, session_id: str | None) -> None:
        self._socket = socket
        self._session_id = session_id
        self._navi: Navi = socket.app.state.navi
        self._token = ""
        self._authenticated_at = 0.0
        self._sees_index = False

    async def run(self) -> None:
        token = token_of(self._socket.headers)
        subprotocol = login_cookie.subprotocol(self._socket.headers)
        if token is None:
            await self._socket.accept(subprotocol)
        refusal: NaviError | None = None
        frames: AsyncGenerator[Sequence[Frame], None] | None = None
        try:
            self._token = token or await self._receive_token()
            user = (await self._authenticate()).user
            self._sees_index = self._session_id is None and user.is_admin
            frames = await self._frames(user)
        except NaviError as error:
            refusal = error
        if token is not None:
            # Accept only now: the client must miss nothing that happens after its socket opens.
            await self._socket.accept(subprotocol)
        if refusal is not None:
            await self._send_error(refusal)
            await self._close(4000 + refusal.http_status)
        elif frames is not None:
            await self._serve(frames)

    async def _receive_token(self) -> str:
        """The token in the first frame, `{"type": "auth", "token": …}`."""
        try:
            async with asyncio.timeout(FIRST_FRAME_SECONDS):
                frame = _parse(await self._next_frame())
        except TimeoutError:
            frame = {}
        token = frame.get("token")
        if frame.get("type") != "auth" or not isinstance(token, str):
            raise NotAuthenticated(
                "the first frame must carry the token",
                hint='send {"type": "auth", "token": "…"}, or an Authorization header',
            )
        return token

    async def _authenticate(self) -> Caller:
        """Identify the client. Done repeatedly, so that a removed user's sockets close too."""
        self._authenticated_at = time.monotonic()
        caller = await authenticate(self._navi, self._token, self._socket.headers)
        mark_authenticated(self._socket)
        return caller

    async def _next_frame(self) -> str | None:
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1000))
        text: str | None = message.get("text")
        return text

    async def _frames(self, user: User) -> AsyncGenerator[Sequence[Frame], None]:
        """Frames after `?after=`, or only new ones. Raises if the user may not see the session."""
        requested_after = self._socket.query_params.get("after")
        if self._session_id is not None:
            require_storable("session_id", self._session_id)
            await self._navi.sessions.get(user, self._session_id)
            after = await self._navi.broadcast.last_seq(self._session_id)
        else:
            after = await self._navi.broadcast.last_position()
        if requested_after is not None:
            # A number beyond the last event would make the client miss the events up to it.
            after = min(after, max(0, query_parameters.whole_number("after", requested_after)))
        if self._session_id is not None:
            return self._navi.broadcast.follow_session(self._session_id, after)
        return self._navi.broadcast.follow_all(user, after)

    async def _serve(self, frames: AsyncGenerator[Sequence[Frame], None]) -> None:
        tasks = {
            asyncio.create_task(self._send_events(frames)),
            asyncio.create_task(self._receive_frames()),
        }
        if self._sees_index:
            tasks.add(asyncio.create_task(self._send_index_changes()))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
        for result in results:
            if isinstance(result, NaviError):
                await self._send_error(result)
                await self._close(4000 + result.http_status)
            elif isinstance(result, Exception) and not isinstance(result, DISCONNECTED):
                log.error("a socket failed: %r", result)
                await self._close(1011)

    async def _send_events(self, frames: AsyncGenerator[Sequence[Frame], None]) -> None:
        async with aclosing(frames) as batches:
            async for batch in batches:
                if time.monotonic() - self._authenticated_at > CHECK_TOKEN_SECONDS:
                    await self._authenticate()
                for frame in batch:
                    await self._socket.send_text(frame.text)

    async def _send_index_changes(self) -> None:
        follower = self._navi.index_follower
        state = follower.announced_state
        while True:
            state = await follower.wait_for_change(state)
            await self._send_json({"type": "index_refreshed", "index": index_state_json(state)})

    async def _receive_frames(self) -> None:
        while True:
            text = await self._next_frame()
            caller = await self._authenticate()
            try:
                await self._handle(caller, _parse(text))
            except NaviError as error:
                await self._send_error(error)

    async def _handle(self, caller: Caller, frame: dict[str, Any]) -> None:
        kind = frame.pop("type", None)
        if not isinstance(kind, str) or kind not in FRAME_HANDLERS:
            raise InvalidInput(
                f"there is no frame of type {kind!r}", hint=f"one of: {', '.join(FRAME_HANDLERS)}"
            )
        await FRAME_HANDLERS[kind](self, caller, frame)

    async def admit_input(self, caller: Caller, frame: dict[str, Any]) -> None:
        session_id = self._session_of(frame)
        body = validate(request_bodies.InputBody, frame)
        admission = await admit(self._navi, caller, session_id, body)
        await self._send_json({"type": "input_admitted", **admission_json(admission)})

    async def stop_turn(self, caller: Caller, frame: dict[str, Any]) -> None:
        stopped = await self._navi.sessions.stop(caller.user, self._session_of(frame))
        await self._send_json({"type": "stop_requested", "stopped": stopped})

    async def answer_ping(self, caller: Caller, frame: dict[str, Any]) -> None:
        await self._send_json({"type": "pong"})

    async def ignore_token(self, caller: Caller, frame: dict[str, Any]) -> None:
        """The client has already authenticated, but may send its token again."""

    def _session_of(self, frame: dict[str, Any]) -> str:
        """The session of a frame: the socket's own or, on `/ws`, the one that the frame names."""
        session_id = frame.pop("session_id", self._session_id)
        if not isinstance(session_id, str):
            raise InvalidInput(
                "this frame doesn't say which session it is for",
                hint="add session_id, or connect to /ws/sessions/ID",
            )
        if self._session_id not in (None, session_id):
            raise InvalidInput(
                f"this socket is for session {self._session_id} only",
                hint="connect to /ws to talk to several sessions",
            )
        return require_storable("session_id", session_id)

    async def _send_json(self, value: dict[str, Any]) -> None:
        await self._socket.send_text(json.dumps(value, separators=(",", ":")))

    async def _send_error(self, error: NaviError) -> None:
        await self._send_json({"type": "error", **error_json(error)})

    async def _close(self, code: int) -> None:
        if self._socket.application_state is WebSocketState.CONNECTED:
            await self._socket.close(code)


FRAME_HANDLERS = {
    "input": _Watcher.admit_input,
    "stop": _Watcher.stop_turn,
    "ping": _Watcher.answer_ping,
    "auth": _Watcher.ignore_token,
}
"""The handler of each type of frame that clients may send."""


def _parse(text: str | None) -> dict[str, Any]:
    if text is None:
        raise InvalidInput("this is a binary frame", hint="send JSON in text frames")
    try:
        value = request_bodies.parse_json(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            "this frame is not JSON", hint='like {"type": "input", "text": "…"}'
        ) from error
    if not isinstance(value, dict):
        raise InvalidInput("a frame must be a JSON object", hint='like {"type": "ping"}')
    return value
