"""Bad requests to a real server: every route, WebSocket frame and MCP call, taken from the app.

Requests come from Bob, a user, with his own ids and Ada's; from an admin, with any ids but Ada's;
and from a caller without a token. Every answer must be below 500, no traceback may be logged, and
Ada's sessions must not change.
"""

from __future__ import annotations

import asyncio
import json
import random
import string
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import quote

import httpx2
from pydantic import BaseModel
from starlette.routing import Route, WebSocketRoute
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidHandshake, WebSocketException

from navi.live.api import request_bodies
from navi.live.api.application import routes
from navi.live.api.routes import hook_routes
from tests.server import NAVI, Client, ServerProcess

SETTINGS = {
    "NAVI_MODEL": "scripted",
    # No driver may start a real agent.
    "NAVI_CLAUDE_CODE_COMMAND": "false",
    "NAVI_CODEX_COMMAND": "false",
}
CLIENTS = 8
SLOW_SECONDS = 30.0

RAW = "\ue000"
"""Marks a value that goes into the JSON as it stands."""
NUMBERS: Sequence[Any] = (
    0, 1, -1, 7, 2**31, 2**63, -(2**63) - 1, 2**64, 10**20, 10**400, 0.5, -0.0, 1e30, 1e308,
    f"{RAW}1e400", f"{RAW}-1e999", f"{RAW}Infinity", f"{RAW}-Infinity", f"{RAW}NaN",
)  # fmt: skip
TEXTS: Sequence[Any] = (
    "", " ", "\n", "x", "0", "-1", "null", "\0", "~\0", "a\0b", "\ud800", "x\udfffy", "~nobody",
    "~", "/", "/nowhere", "..", "/proc/self/mem", "x" * 300, "x" * 5_000, "/" + "x" * 5_000,
    "/x" * 3_000, "y" * 70_000, "UTC",
    "\u202egnp", "\x1b]0;t\x07", "👩‍👩‍👧", "٣", "²", "%s%n", "{}", "'; --",
    "9999-12-31T23:59:59Z", "0001-01-01", "in 5 minutes", "tomorrow 9:00", "in 99999999999 years",
    "* * * * *", "99 * * * *", "once",
    "0 0 30 2 *", "*/0 * * * *", "Europe/Paris", "Mars/Olympus", "+25:00",
    "../../etc/passwd", "recurring", "immediate", "urgent", "all", "scripted",
    "claude_code", "SessionStart", "Stop", "PreCompact", "list", "cancel", "add", "remove",
)  # fmt: skip
ODD: Sequence[Any] = (None, True, False, [], {}, [[]], ["x"], {"x": 1}, {"x": {"y": ["\ud800"]}})
BODIES: Sequence[bytes] = (
    b"", b"{", b"null", b"[]", b"7", b'"x"', b"\xff\xfe", b"\x00", b"[" * 100_000, b'{"a":' * 5_000,
    b'{"text": "\\ud800"}', b'{"text": "\xed\xa0\x80"}', b"9" * 5_000, b'{"x": 1, "x": 2}',
)  # fmt: skip
HEADERS: Sequence[tuple[str, str]] = (
    ("Host", "evil.example"), ("Host", ""), ("Host", "127.0.0.1:99999"), ("Origin", "null"),
    ("Origin", "http://[::1"), ("Origin", "http://evil.example"), ("Authorization", "Bearer"),
    ("Authorization", "Basic eDp5"), ("Authorization", "Bearer \u00e9"), ("Cookie", "navi_token"),
    ("Cookie", 'navi_token="\\777\\0"; ='), ("Navi-Session", "\u00e9"), ("Navi-Session", "nobody"),
    ("Navi-Agent-Session", "x" * 3_000), ("Content-Type", "text/plain"), ("Accept", "text/html"),
    ("If-None-Match", "*"), ("Accept-Encoding", "gzip"), ("Transfer-Encoding", "gzip"),
    ("Expect", "100-continue"), ("Content-Length", "-1"), ("Content-Length", "x"),
    ("Upgrade", "websocket"), ("Connection", "upgrade"),
)  # fmt: skip
RAW_REQUESTS: Sequence[bytes] = (
    b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01",
    b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET http://[::1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: other\r\n\r\n",
    b"POST /sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n\r\n",
    b"GET /ws/\xff HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\n\r\n",
    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"X-\xc3\xa9: \xff\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
)  # fmt: skip
QUERY = (
    "after", "after_idx", "before_idx", "limit", "tz", "parent_id", "pending_recall", "recursive",
    "delete_automations", "requester_session_id", "seconds", "wait", "token", "q", "by", "suggest",
    "project", "since", "until", "source", "session_id", "kind", "role", "tool", "file",
)  # fmt: skip
WAITS = ("seconds", "wait")
GOOD: dict[str, Sequence[Any]] = {
    "driver": ["scripted", "builtin", "claude_code"],
    "cwd": ["/", "/tmp"],
    "call_type": ["once", "recurring", "immediate"],
    "when": ["in 300 days", "tomorrow 9:00"],
    "tz": ["Europe/Paris", "UTC"],
    "timezone_offset": ["+02:00"],
    "at": ["in 300 days"],
    "cron_expr": ["0 0 1 1 *"],
    "every_seconds": [9_000_000],
    "interval_seconds": [9_000_000],
    "catch_up": ["once", "skip", "all"],
    "delivery_mode": ["sequential", "important", "urgent"],
    "emitted_at": [1_790_000_000.0],
    "hook_event_name": ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"],
    "delay_seconds": [9_000_000.0],
    "soft_threshold": [600],
    "action": ["add", "list", "remove", "cancel", "skip"],
}
"""Values that are accepted, so that what follows them is tried, too."""
REFURNISHED_AFTER = 200
"""So many requests later little is left of what was there."""


@dataclass
class Report:
    statuses: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    breaks: list[str] = field(default_factory=list)
    """Requests that were not answered because the connection broke."""

    @property
    def count(self) -> int:
        return self.statuses.total()


Ids = dict[str, list[str]]
"""Of sessions, inputs, automations, recalls and reminders."""


@dataclass(frozen=True)
class Caller:
    name: str
    client: Client
    ids: Ids
    others: Ids | None = None
    """Ids of somebody else."""

    def choose(self, rng: random.Random, kind: str) -> str:
        ids = self.others if self.others is not None and rng.random() < 0.4 else self.ids
        return rng.choice(ids[kind if rng.random() < 0.9 else rng.choice(sorted(ids))])


class Fuzz:
    def __init__(self, server: ServerProcess, seed: int) -> None:
        self._server = server
        self._seed = seed
        self._random = random.Random(seed)
        self._report = Report()
        self._routes = [each for each in routes() if isinstance(each, Route)]
        self._socket_paths = [each.path for each in routes() if isinstance(each, WebSocketRoute)]
        self._models = {
            name: model
            for module in (request_bodies, hook_routes)
            for name, model in vars(module).items()
            if isinstance(model, type) and issubclass(model, request_bodies.Body)
        }

    async def run(
        self, requests: int, on_progress: Callable[[int], None] = lambda count: None
    ) -> Report:
        ada, bob = _add_user(self._server, "ada"), _add_user(self._server, "bob")
        async with self._server.client() as admin, self._as(ada) as ada_client:
            ada_ids = await _furnish(ada_client)
            untouched = await _state(ada_client)
            async with self._as(bob) as bob_client, self._as("nobody") as stranger:
                self._tools = await _tools(admin)
                callers = [
                    Caller("bob", bob_client, await _furnish(bob_client), ada_ids),
                    Caller("bob", bob_client, await _furnish(bob_client)),
                    Caller("admin", admin, await _furnish(admin)),
                    Caller("stranger", stranger, ada_ids),
                ]
                await self._attack(callers, requests, on_progress)
            await self._check(ada_client, untouched)
        return self._report

    def _as(self, token: str) -> Client:
        return Client(self._server.address, token, SLOW_SECONDS)

    async def _attack(
        self, callers: Sequence[Caller], requests: int, on_progress: Callable[[int], None]
    ) -> None:
        # Each request has a generator of its own: a seed and a number name the same one every time.
        left = iter(range(requests))
        refurnishing = asyncio.Lock()

        async def work() -> None:
            for number in left:
                if number % REFURNISHED_AFTER == REFURNISHED_AFTER - 1:
                    async with refurnishing:
                        await _refurnish(callers[:3], ada=callers[3])
                attempt, words = self._attempt(random.Random(f"{self._seed}.{number}"), callers)
                await self._judge(number, attempt, words)
                on_progress(self._report.count)

        await asyncio.gather(*(work() for _ in range(CLIENTS)))

    def _attempt(self, rng: random.Random, callers: Sequence[Caller]) -> tuple[Any, str]:
        (caller,) = rng.choices(callers, weights=[4, 4, 4, 1])
        kind = rng.random()
        if kind < 0.02:
            data = rng.choice(RAW_REQUESTS)
            return partial(self._send_raw, data), f"raw {data[:80]!r}"
        if kind < 0.12:
            path = self._path(rng, rng.choice(self._socket_paths), caller)
            frames = [self._frame(rng, caller) for _ in range(rng.randint(1, 4))]
            words = f"{caller.name} socket {path[:200]} {_excerpt(frames)}"
            return partial(self._send_frames, caller, path, frames), words
        if kind < 0.27:
            method, path, content = "POST", "/mcp", self._call(rng, caller)
        else:
            route = rng.choice(self._routes)
            method = rng.choice(sorted(route.methods or {"GET"}))
            if rng.random() < 0.03:
                method = rng.choice(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
            path = self._path(rng, route.path, caller)
            content = self._body(rng, route, caller) if method not in ("GET", "HEAD") else b""
        headers = dict([rng.choice(HEADERS)]) if rng.random() < 0.1 else {}
        if path == "/mcp" and rng.random() < 0.8:
            headers["Navi-Session"] = caller.choose(rng, "session")
        words = f"{caller.name} {method} {path[:200]} {headers} {content[:300]!r}"
        return partial(self._send, caller, method, path, headers, content), words

    async def _judge(self, number: int, attempt: Any, words: str) -> None:
        try:
            status = await attempt()
        except httpx2.TransportError as error:
            status = type(error).__name__
            self._report.breaks.append(f"request {number}: {error!r} for {words}")
        self._report.statuses[str(status)] += 1
        has_failed = status >= 500 if isinstance(status, int) else "Timeout" in status
        if has_failed:
            self._report.failures.append(f"request {number}: {status} for {words}")

    async def _send(
        self, caller: Caller, method: str, path: str, headers: dict[str, str], content: bytes
    ) -> int | str:
        sent = [(name.encode(), value.encode()) for name, value in headers.items()]
        try:
            response = await caller.client.http.request(method, path, headers=sent, content=content)
        except httpx2.LocalProtocolError:
            # The client library validates; the server must not rely on that.
            lines = [f"{method} {path} HTTP/1.1".encode(), *(b": ".join(each) for each in sent)]
            lines += [f"{name}: {value}".encode() for name, value in caller.client.headers.items()]
            return await self._send_raw(b"\r\n".join([*lines, b"Host: localhost", b"", content]))
        return response.status_code

    async def _send_frames(self, caller: Caller, path: str, frames: Sequence[str | bytes]) -> str:
        address = caller.client.address.replace("http://", "ws://") + path
        try:
            async with asyncio.timeout(SLOW_SECONDS):
                async with connect(
                    address, additional_headers=caller.client.headers, proxy=None, close_timeout=1
                ) as socket:
                    for frame in frames:
                        await socket.send(frame)
                    await socket.send('{"type": "ping"}')
                    while json.loads(await socket.recv())["type"] != "pong":
                        pass
        except InvalidHandshake as error:
            status = getattr(getattr(error, "response", None), "status_code", None)
            if status is not None and status >= 500:
                self._report.failures.append(f"{status} for socket {path[:200]}")
            return f"socket refused {status}"
        except WebSocketException as error:
            code = getattr(getattr(error, "rcvd", None), "code", None)
            if code in (1011, 1006):
                self._report.failures.append(f"{code} for socket {path[:200]} {_excerpt(frames)}")
            return f"socket closed {code}"
        except TimeoutError:
            self._report.failures.append(f"no pong for socket {path[:200]} {_excerpt(frames)}")
        return "socket open"

    async def _send_raw(self, data: bytes) -> str:
        host, _, port = self._server.address.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            writer.write(data)
            writer.write_eof()
            async with asyncio.timeout(SLOW_SECONDS):
                line = await reader.readline()
        except ConnectionResetError:
            return "raw reset"
        except TimeoutError:
            self._report.failures.append(f"no answer to {data[:80]!r}")
            return "raw timeout"
        finally:
            writer.close()
        status = line.split(b" ")[1].decode() if line.count(b" ") > 1 else "closed"
        if status.startswith("5"):
            self._report.failures.append(f"{status} for {data[:80]!r}")
        return f"raw {status}"

    def _path(self, rng: random.Random, pattern: str, caller: Caller) -> str:
        parts = []
        for part in pattern.split("/"):
            if not part.startswith("{"):
                parts.append(part)
            elif part == "{driver}" and rng.random() < 0.9:
                parts.append(rng.choice(["claude_code", "codex"]))
            elif rng.random() < 0.9:
                parts.append(caller.choose(rng, _kind(pattern, part)))
            else:
                parts.append(_quoted(rng.choice(TEXTS)) or "x")
        path = "/".join(parts)
        if rng.random() < 0.4:
            pairs = [self._parameter(rng, caller) for _ in range(rng.randint(1, 3))]
            path += "?" + "&".join(pairs)
        return path[:8_000]

    def _parameter(self, rng: random.Random, caller: Caller) -> str:
        name = rng.choice(QUERY)
        if name in WAITS:
            return f"{name}={rng.choice(['0', '-1', 'x', '٣', 'NaN'])}"
        values = [*TEXTS, *(str(number) for number in NUMBERS if len(str(number)) < 100)]
        values += ["true", caller.choose(rng, "session")]
        return f"{name}={_quoted(rng.choice(values))}"

    def _body(self, rng: random.Random, route: Route, caller: Caller) -> bytes:
        if rng.random() < 0.1:
            return rng.choice(BODIES)
        # The names of the models that the route's code reads its body with.
        used = [name for name in route.endpoint.__code__.co_names if name in self._models]
        model = self._models[rng.choice(used or sorted(self._models))]
        return _encoded(self._object(rng, model, caller))

    def _object(self, rng: random.Random, model: type[BaseModel], caller: Caller) -> Any:
        value: dict[str, Any] = {}
        for name, each in model.model_fields.items():
            if each.is_required() or rng.random() < 0.4:
                value[name] = self._value(rng, name, each.annotation, caller)
        if rng.random() < 0.03:
            value["surprise"] = self._junk(rng, caller)
        return value

    def _value(self, rng: random.Random, name: str, annotation: Any, caller: Caller) -> Any:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return self._object(rng, annotation, caller)
        if rng.random() < 0.15:
            return self._junk(rng, caller)
        if name in GOOD and rng.random() < 0.7:
            return rng.choice(GOOD[name])
        words = str(annotation)
        if "int" in words or "float" in words:
            return rng.choice([rng.choice(NUMBERS), rng.randint(1, 100_000)])
        if "bool" in words:
            return rng.random() < 0.5
        if name.endswith("_id") and rng.random() < 0.8:
            return caller.choose(rng, "session")
        return rng.choice([rng.choice(TEXTS), caller.choose(rng, "session"), "Look around."])

    def _junk(self, rng: random.Random, caller: Caller) -> Any:
        return rng.choice([*NUMBERS, *TEXTS, *ODD, caller.choose(rng, "session")])

    def _frame(self, rng: random.Random, caller: Caller) -> str | bytes:
        if rng.random() < 0.15:
            return rng.choice([*BODIES, b"\x00\x01"])
        frame: dict[str, Any] = {
            "type": rng.choice(["input", "stop", "ping", "auth", "x", self._junk(rng, caller)])
        }
        if rng.random() < 0.7:
            frame["session_id"] = self._value(rng, "session_id", str, caller)
        if rng.random() < 0.7:
            frame |= self._object(rng, request_bodies.InputBody, caller)
        return _encoded(frame).decode()

    def _call(self, rng: random.Random, caller: Caller) -> bytes:
        if rng.random() < 0.1:
            return rng.choice(BODIES)
        tool = rng.choice(self._tools)
        arguments = {
            name: self._argument(rng, name, schema, caller)
            for name, schema in tool["inputSchema"].get("properties", {}).items()
            if rng.random() < 0.6
        }
        methods = ["initialize", "ping", "tools/list", "notifications/initialized"]
        call: dict[str, Any] = {
            "jsonrpc": "2.0",
            "id": rng.choice([1, "x", None, self._junk(rng, caller)]),
            "method": rng.choice(["tools/call"] * 8 + methods + [self._junk(rng, caller)]),
            "params": {"name": tool["name"], "arguments": arguments},
        }
        for place, key in ((call, "params"), (call["params"], "name"), (call["params"], "_meta")):
            if rng.random() < 0.07:
                place[key] = self._junk(rng, caller)
        if rng.random() < 0.05:
            call["params"] = {"name": tool["name"], "arguments": self._junk(rng, caller)}
        return _encoded([call, call] if rng.random() < 0.05 else call)

    def _argument(self, rng: random.Random, name: str, schema: Any, caller: Caller) -> Any:
        if "enum" in schema and rng.random() < 0.8:
            return rng.choice(schema["enum"])
        is_number = schema.get("type") in ("integer", "number")
        return self._value(rng, name, int if is_number else str, caller)

    async def _check(self, ada: Client, untouched: Any) -> None:
        failures = self._report.failures
        if await _state(ada) != untouched:
            failures.append("Ada's sessions are not what they were")
        health = await ada.call("GET", "/health")
        if health["status"] != "ok":
            failures.append(f"the server says {health}")
        log = self._server.log()
        if "Traceback" in log:
            failures.append("the log has a traceback:\n" + log[log.index("Traceback") :][:3_000])
        if "rror" in log:
            lines = [line for line in log.splitlines() if "ERROR" in line or "Fatal error" in line]
            failures += [f"the log says: {line[:300]}" for line in lines[:5]]


def _add_user(server: ServerProcess, name: str) -> str:
    done = subprocess.run(
        [*NAVI, "user", "add", name],
        env=server.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


async def _furnish(client: Client) -> Ids:
    """Create sessions with something in each; return all their ids."""
    ids: Ids = {}
    for name in ("one", "two"):
        session_id = await client.session(name=name)
        own = f"/sessions/{session_id}"
        admission = await client.say(session_id, "hello")
        answered = f"{own}/input/{admission['input_id']}?wait=60"
        await client.call("GET", answered)
        day = {"name": "look", "message": "Look.", "cron_expr": "0 0 1 1 *"}
        automation = await client.call("POST", f"{own}/automations", day, expect=201)
        far = {"call_type": "once", "when": "in 300 days", "additional_context_message": "Look."}
        recall = await client.call("POST", f"{own}/recall", far, expect=201)
        remind = {"session_id": session_id, "delay_seconds": 9_000_000, "message": "look"}
        reminder = await client.call("POST", "/scheduler/remind", remind)
        for kind, made in (
            ("session", session_id),
            ("input", admission["input_id"]),
            ("automation", automation["id"]),
            ("recall", recall["id"]),
            ("reminder", reminder["reminder_id"]),
        ):
            ids.setdefault(kind, []).append(made)
    return ids


async def _refurnish(callers: Sequence[Caller], *, ada: Caller) -> None:
    """Replace everyone's sessions but Ada's, so that lists stay short."""
    for caller in callers:
        caller.ids.update(await _furnish(caller.client))
    kept = {each for caller in (*callers, ada) for each in caller.ids["session"]}
    admin = callers[-1].client
    for session in await admin.call("GET", "/sessions"):
        if session["id"] not in kept:
            path = f"/sessions/{session['id']}?delete_automations=true"
            await admin.http.delete(path)


async def _state(client: Client) -> Any:
    """Everything of one user that others could change."""
    sessions = await client.call("GET", "/sessions")
    sessions.sort(key=lambda each: each["id"])
    details = [
        await client.call("GET", f"/sessions/{session['id']}/{part}")
        for session in sessions
        for part in ("messages", "queue", "recalls", "automations", "reminders")
    ]
    return sessions, details


async def _tools(client: Client) -> list[dict[str, Any]]:
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    return list((await client.call("POST", "/mcp", request))["result"]["tools"])


def _encoded(value: Any) -> bytes:
    """As JSON, with the raw values as they stand and the halves of surrogate pairs escaped."""
    text = json.dumps(value)
    mark = json.dumps(RAW).strip('"')
    while mark in text:
        before, _, rest = text.partition(f'"{mark}')
        raw, _, after = rest.partition('"')
        text = before + raw + after
    return text.encode()


def _kind(pattern: str, part: str) -> str:
    """What a part of a path names."""
    if part == "{input_id}":
        return "input"
    if pattern.startswith("/automations"):
        return "automation"
    return "reminder" if pattern.startswith("/scheduler") else "session"


def _quoted(text: str) -> str:
    return quote(text.encode(errors="surrogatepass"), safe=string.digits)


def _excerpt(frames: Sequence[str | bytes]) -> str:
    return str([frame[:200] for frame in frames])
