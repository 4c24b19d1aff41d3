"""No route, frame or tool reaches what belongs to another user.

Routes, frames and tools are taken from the application itself. A new one fails the tests until the
tables below say how another user would try to misuse it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx2
import pytest
from sqlalchemy import Engine, select
from starlette.routing import Route, WebSocketRoute

from navi.live.api.application import build
from navi.live.api.routes.socket_routes import FRAME_HANDLERS
from navi.live.runtime.app import Navi, machine_tools
from navi.live.runtime.settings import Settings
from navi.live.store.engine.connection import open_engine
from navi.live.store.engine.tables import metadata, sessions
from tests.acceptance.contract.command_runs import navi
from tests.acceptance.contract.conftest import agent_token, finished, receive, receive_until
from tests.server import Client, ServerProcess

MARK = "zanzibar"
"""In all that Ada has. It must never be in what Bob is answered."""
HOUR = {"when": "1h", "call_type": "once", "additional_context_message": MARK}
HERS = "hers-by-name-of-its-agent"
HER_ACCOUNT = "scripted:ada"
OWNERS = ("id", "session_id", "user_id")
RENEWED = {"lanes"}
"""Tables that change by themselves while a turn runs."""


@dataclass(frozen=True)
class Attempt:
    """What Bob sends. `<name>` stands for something of Ada's."""

    status: int = 403
    body: Any = None
    query: str = ""
    path: Mapping[str, str] = field(default_factory=lambda: {"id": "<session>"})
    is_public: bool = False
    """Whether it answers without a token."""
    is_for_admins: bool = False
    is_for_people: bool = False
    """Whether it refuses every agent."""
    believes_claims: bool = False
    """Whether it takes a person who names a session for that session's agent."""


REFUSED = Attempt()
MEMORY = Attempt(is_for_admins=True)
"""What was ever said on this machine, whoever said it."""
OWN = Attempt(200)
"""Shows what the caller may see, which is nothing of Ada's."""
OF_INPUT = {"id": "<session>", "input_id": "<input>"}
BUDGET_OF_AUTOMATION = {"automation_id": "<automation>"}
OF_AUTOMATION, OF_RUN, OF_REMINDER, OF_QUESTION = (
    {"id": f"<{each}>"} for each in ("automation", "run", "once", "question")
)
NOT_FOR_AGENTS: dict[str, Any] = {
    "status": 404,
    "path": {"id": "question-<question>"},
    "is_for_people": True,
    "believes_claims": True,
}
SEND = {"target": "<session>", "text": "hello"}
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "send_message", "arguments": SEND},
}
REPORT = {"emitted_at": 4e9, "hook": {"hook_event_name": "Stop", "session_id": HERS, "cwd": "/"}}

ROUTES = {
    "GET /": Attempt(200, is_public=True),
    "GET /login": Attempt(200, is_public=True),
    "POST /login": Attempt(401, body={"user": "ada", "code": "a guess"}, is_public=True),
    "POST /logout": Attempt(200, body={"everywhere": True}, is_for_people=True),
    "GET /health": Attempt(200, is_public=True),
    "GET /assets/{name}": Attempt(404, path={"name": "none.js"}, is_public=True),
    "GET /docs/{path:path}": Attempt(404, path={"path:path": "none.md"}, is_public=True),
    "GET /sessions": OWN,
    "POST /sessions": Attempt(body={"driver": "scripted", "parent_id": "<session>"}),
    "GET /sessions/{id}": REFUSED,
    "PATCH /sessions/{id}": Attempt(body={"name": "mine", "archived": True, "unread": False}),
    "DELETE /sessions/{id}": Attempt(query="?delete_automations=true"),
    "GET /sessions/{id}/messages": REFUSED,
    "GET /sessions/{id}/snapshot": REFUSED,
    "GET /sessions/{id}/children": Attempt(query="?recursive=true"),
    "GET /sessions/{id}/wait": REFUSED,
    "POST /sessions/{id}/agent-status": Attempt(body={"text": "mine"}),
    "POST /sessions/{id}/task-complete": Attempt(body={"text": "done"}),
    "POST /sessions/{id}/stop": REFUSED,
    "POST /sessions/{id}/clear": Attempt(body={}),
    "POST /sessions/{id}/kill": Attempt(body={}),
    "POST /sessions/{id}/input": Attempt(body={"text": "hello", "delivery_mode": "urgent"}),
    "GET /sessions/{id}/input/{input_id}": Attempt(path=OF_INPUT),
    "GET /sessions/{id}/queue": REFUSED,
    "PATCH /sessions/{id}/queue/{input_id}": Attempt(path=OF_INPUT, body={"text": "mine"}),
    "DELETE /sessions/{id}/queue/{input_id}": Attempt(path=OF_INPUT),
    "GET /sessions/{id}/recall": REFUSED,
    "POST /sessions/{id}/recall": Attempt(body=HOUR),
    "DELETE /sessions/{id}/recall": REFUSED,
    "POST /sessions/{id}/recall/skip": REFUSED,
    "GET /sessions/{id}/recalls": REFUSED,
    "POST /recalls/preview": Attempt(200, body={"when": "1h"}),
    "GET /sessions/{id}/automations": REFUSED,
    "POST /sessions/{id}/automations": Attempt(
        body={"name": "mine", "message": "hello", "every_seconds": 60}
    ),
    "GET /automations": OWN,
    "POST /automations/preview": Attempt(200, body={"every_seconds": 60}),
    "GET /automations/{id}": Attempt(path=OF_AUTOMATION),
    "PATCH /automations/{id}": Attempt(path=OF_AUTOMATION, body={"message": "mine"}),
    "DELETE /automations/{id}": Attempt(path=OF_AUTOMATION),
    "GET /automations/{id}/runs": Attempt(path=OF_AUTOMATION),
    "GET /automation-runs/{id}": Attempt(path=OF_RUN),
    "GET /reminders": OWN,
    "GET /sessions/{id}/reminders": REFUSED,
    "GET /sessions/{id}/remind": REFUSED,
    "POST /sessions/{id}/remind": Attempt(body={"soft_threshold": 60}),
    "DELETE /sessions/{id}/remind": REFUSED,
    "POST /scheduler/remind": Attempt(
        body={"session_id": "<session>", "delay_seconds": 60, "message": "hello"}
    ),
    "DELETE /scheduler/remind/{id}": Attempt(path=OF_REMINDER),
    "GET /inbox": OWN,
    "POST /inbox/{id}/snooze": Attempt(**NOT_FOR_AGENTS, body={"until": "1h"}),
    "POST /inbox/{id}/settle": Attempt(**NOT_FOR_AGENTS),
    "GET /notifications": OWN,
    "POST /notifications/test": Attempt(body={}, is_for_admins=True, is_for_people=True),
    # Whoever has the link may answer, so a guess is all that is left to try.
    "GET /a/{token}": Attempt(404, path={"token": "a-guess"}, is_public=True),
    "POST /a/{token}": Attempt(
        404, path={"token": "a-guess"}, body={"decision": "allow"}, is_public=True
    ),
    "GET /agenda": OWN,
    "GET /limits": OWN,
    "POST /limits/ignore": Attempt(404, body={"account": HER_ACCOUNT}, is_for_people=True),
    "GET /budgets": OWN,
    "GET /sessions/{id}/budget": REFUSED,
    "POST /sessions/{id}/budget": Attempt(body={"tokens": 1}),
    "DELETE /sessions/{id}/budget": REFUSED,
    "GET /automations/{automation_id}/budget": Attempt(path=BUDGET_OF_AUTOMATION),
    "POST /automations/{automation_id}/budget": Attempt(
        path=BUDGET_OF_AUTOMATION, body={"tokens": 1}
    ),
    "DELETE /automations/{automation_id}/budget": Attempt(path=BUDGET_OF_AUTOMATION),
    "GET /budget": OWN,
    "POST /budget": Attempt(200, body={"tokens": 50_000_000}, is_for_people=True),
    "DELETE /budget": Attempt(200, is_for_people=True),
    "GET /questions": OWN,
    "GET /questions/{id}": Attempt(path=OF_QUESTION),
    "POST /questions/{id}/answer": Attempt(path=OF_QUESTION, body={"decision": "deny"}),
    "GET /agents": OWN,
    "GET /folders": OWN,
    "GET /index": MEMORY,
    "GET /search": Attempt(query=f"?q={MARK}", is_for_admins=True),
    "GET /archive/sessions": MEMORY,
    "GET /archive/sessions/{id}": MEMORY,
    "POST /archive/sessions/{id}/adopt": MEMORY,
    "GET /archive/digest": MEMORY,
    "POST /archive/digest/summary": MEMORY,
    "GET /stats": MEMORY,
    "GET /stats/tools": MEMORY,
    "GET /stats/bash": MEMORY,
    "GET /stats/tokens": MEMORY,
    "GET /stats/projects": MEMORY,
    "GET /stats/activity": MEMORY,
    # A tool's refusal is a result; the tools are tried one by one below.
    "POST /mcp": Attempt(200, body=CALL),
    "POST /hooks/{driver}": Attempt(path={"driver": "claude_code"}, body=REPORT),
}
SOCKETS = {"/ws", "/ws/sessions/{id}"}
FRAMES_TO_HERS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "input": ({"session_id": "<session>", "text": "hello"}, ["not_allowed"]),
    "stop": ({"session_id": "<session>"}, ["not_allowed"]),
    "ping": ({}, ["pong"]),
    "auth": ({"token": "another"}, []),
}
FILE = {"action": "read", "path": "<folder>/notes"}
SM = "sm all; sm kill <session>; sm task me; sm send <session> hello; sm output <session>"
TOOLS: dict[str, dict[str, Any]] = {
    "schedule_recall": HOUR | {"additional_context_message": "mine", "session_id": "<session>"},
    "manage_recall": {"action": "cancel", "session_id": "<session>"},
    "cron": {"action": "remove", "job_id": "<automation>"},
    "search_sessions": {"query": MARK},
    "read_session": {"id": "<session>"},
    "sessions_of_file": {"path": "notes"},
    "report_status": {"text": "mine", "session_id": "<session>"},
    "send_message": SEND,
    "ask_person": {"question": "mine", "session_id": "<session>"},
    # The next ones are of the built-in agent alone. They reach what the server's account can
    # reach, and of Navi only what their session's user may.
    "terminal": {"command": f"({SM}) 2>&1"},
    "filesystem": FILE,
    "http_request": {"url": "<address>/sessions", "headers": {"Authorization": "Bearer <token>"}},
}
BUILT_IN = {"terminal", "filesystem", "http_request"}


def application_routes() -> list[Any]:
    """Every route the application answers."""
    without_runtime = SimpleNamespace(settings=Settings())
    return list(build(cast(Navi, without_runtime)).routes)


def http_routes() -> list[str]:
    routes = [each for each in application_routes() if isinstance(each, Route)]
    return [
        f"{method} {route.path}"
        for route in routes
        for method in (route.methods or set()) - {"HEAD"}
    ]


@dataclass(frozen=True)
class World:
    server: ServerProcess
    ada: str
    bob: str
    agent: str
    """The tokens of Ada, of Bob, and of the agent in Bob's session."""
    his: str
    """Bob's session."""
    hers: Mapping[str, str]
    """What Ada has, by what stands for it above."""
    store: Engine

    def filled(self, value: Any) -> Any:
        text = json.dumps(value)
        for name, real in {**self.hers, "address": self.server.address, "token": self.bob}.items():
            text = text.replace(f"<{name}>", real)
        return json.loads(text)

    def client(self, token: str) -> Client:
        return Client(self.server.address, token, 30)

    def rows_of_ada(self) -> list[str]:
        """Every row of the store that concerns her, unless it is Bob's."""
        marks = {"ada", MARK, HERS, *self.hers.values()}
        with self.store.connect() as connection:
            owned = select(sessions.c.id).where(sessions.c.user_id == "bob")
            bobs = {"bob", *connection.execute(owned).scalars()}
            return [
                text
                for table in metadata.sorted_tables
                if table.name not in RENEWED
                for row in connection.execute(select(table)).mappings()
                if bobs.isdisjoint(str(row.get(name)) for name in OWNERS)
                and any(mark in (text := f"{table.name} {dict(row)}") for mark in marks)
            ]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    home = tmp_path_factory.mktemp("isolation")
    with ServerProcess(home, settings={"NAVI_MODEL": "scripted"}) as server:
        yield server


@pytest.fixture(scope="module")
def world(server: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("ada")
    (folder / "notes").write_text(MARK)
    ada, bob = (navi(server, "user", "add", name).split()[-1] for name in ("ada", "bob"))
    store = open_engine(server.database_url)
    yield asyncio.run(make_world(server, ada, bob, folder, store))
    store.dispose()


async def make_world(
    server: ServerProcess, ada: str, bob: str, folder: Path, store: Engine
) -> World:
    async with Client(server.address, ada, 30) as client:
        hers = await make_hers(client, folder)
    async with Client(server.address, bob, 30) as client:
        his = await client.session()
        agent = await agent_token(client, his)
    return World(server, ada, bob, agent, his, hers, store)


async def make_hers(ada: Client, folder: Path) -> dict[str, str]:
    """One of everything that a user can have."""
    session = await ada.session(name=MARK, cwd=str(folder))
    path = f"/sessions/{session}"
    await ada.call("POST", f"{path}/recall", HOUR, expect=201)
    once = {"session_id": session, "delay_seconds": 3600, "message": MARK}
    reminder = await ada.call("POST", "/scheduler/remind", once)
    now = {"name": MARK, "message": f"[[say: {MARK}]]", "at": "now"}
    automation = await ada.call("POST", f"{path}/automations", now, expect=201)
    await finished(ada, session)
    await ada.call("POST", f"{path}/agent-status", {"text": MARK})
    await ada.call("PATCH", path, {"task": MARK})
    for owner in (path, f"/automations/{automation['id']}"):
        await ada.call("POST", f"{owner}/budget", {"tokens": 50_000_000})
    await ada.call("POST", f"{path}/remind", {"soft_threshold": 86400})
    [run] = await ada.call("GET", f"/automations/{automation['id']}/runs")
    started = {"emitted_at": 1.0, "hook": {"hook_event_name": "SessionEnd", "session_id": HERS}}
    await ada.call("POST", "/hooks/claude_code", started)
    # An agent of hers asks her something.
    asking = await ada.session(name="hers", cwd=str(folder))
    await ada.say(asking, f"[[say: {MARK}]] [[ask: {MARK}? | {MARK} | no]]")
    await finished(ada, asking)
    [question] = await ada.call("GET", f"/questions?state=open&session_id={asking}")
    # Her agent is working, so there is a turn to stop, and the next input waits.
    async with ada.watch(session) as socket:
        await ada.say(session, f"[[say: {MARK}]] [[sleep: 600]]")
        await receive_until(socket, "stream_delta")
    waiting = await ada.say(session, MARK)
    limited = await ada.session(name=MARK)
    await ada.say(limited, f"{MARK} [[limit: 86400]]")
    await finished(ada, limited)
    return {
        "session": session,
        "folder": str(folder),
        "input": waiting["input_id"],
        "once": reminder["reminder_id"],
        "automation": automation["id"],
        "run": run["id"],
        "question": question["id"],
    }


def test_every_route_frame_and_tool_is_tried() -> None:
    routes = application_routes()
    assert {type(each) for each in routes} <= {Route, WebSocketRoute}
    assert set(http_routes()) == set(ROUTES)
    assert {each.path for each in routes if isinstance(each, WebSocketRoute)} == SOCKETS
    assert set(FRAME_HANDLERS) == set(FRAMES_TO_HERS)
    assert {tool.name for tool in machine_tools(Settings(), None)} == BUILT_IN


async def test_every_tool_for_other_agents_is_tried(world: World) -> None:
    async with world.client(world.bob) as bob:
        listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        answered = await bob.call("POST", "/mcp", listing)
    assert {tool["name"] for tool in answered["result"]["tools"]} == set(TOOLS) - BUILT_IN


@pytest.mark.parametrize(
    "route",
    sorted(
        route
        for route, attempt in ROUTES.items()
        if route.startswith("GET") and attempt.status == 403 and not attempt.is_for_admins
    ),
)
async def test_ada_herself_is_shown_what_bob_is_refused(world: World, route: str) -> None:
    """Proves that the addresses are right: a wrong one would be refused to everybody."""
    response = await send(world, world.ada, route)
    assert response.status_code == 200


@pytest.mark.parametrize("claims", [False, True], ids=["", "claiming-her-session"])
@pytest.mark.parametrize("caller", ["bob", "agent"])
@pytest.mark.parametrize("route", sorted(ROUTES))
async def test_no_route_leads_to_what_is_adas(
    world: World, route: str, caller: str, claims: bool
) -> None:
    attempt = ROUTES[route]
    before = world.rows_of_ada()

    headers = {"Navi-Session": world.hers["session"]} if claims else {}
    response = await send(world, getattr(world, caller), route, headers)

    assert MARK not in response.text
    assert world.rows_of_ada() == before
    is_refused = attempt.is_for_people or (claims and not attempt.is_public)
    is_agent = caller == "agent" or (claims and attempt.believes_claims)
    status = 403 if is_agent and is_refused else attempt.status
    assert response.status_code == status, response.text


async def send(
    world: World, token: str, route: str, headers: Mapping[str, str] = {}
) -> httpx2.Response:
    attempt = ROUTES[route]
    method, path = route.split()
    for name, value in attempt.path.items():
        path = path.replace(f"{{{name}}}", world.filled(value))
    async with world.client(token) as client:
        return await client.http.request(
            method, path + attempt.query, json=world.filled(attempt.body), headers=dict(headers)
        )


@pytest.mark.parametrize("caller", ["bob", "agent"])
async def test_her_socket_is_closed_to_others(world: World, caller: str) -> None:
    async with world.client(getattr(world, caller)) as client:
        async with client.watch(world.hers["session"], after=0) as socket:
            refusal = await receive(socket)
            assert refusal["kind"] == "not_allowed"
            with pytest.raises(Exception, match="4403"):
                await socket.recv()


@pytest.mark.parametrize("caller", ["bob", "agent"])
@pytest.mark.parametrize("kind", sorted(FRAMES_TO_HERS))
async def test_no_frame_reaches_what_is_adas(world: World, kind: str, caller: str) -> None:
    frame, expected = FRAMES_TO_HERS[kind]
    before = world.rows_of_ada()
    async with world.client(getattr(world, caller)) as client, client.watch(after=0) as socket:
        await socket.send(json.dumps({"type": kind, **world.filled(frame)}))
        await socket.send(json.dumps({"type": "ping"}))
        frames: list[dict[str, Any]] = []
        pongs = 2 if kind == "ping" else 1
        while sum(each["type"] == "pong" for each in frames) < pongs:
            frames.append(await receive(socket))
    assert MARK not in json.dumps(frames)
    # The same socket replays all earlier events: only Bob's.
    events = [each for each in frames if "seq" in each]
    assert {each["session_id"] for each in events} <= {world.his}
    answers = [each.get("kind", each["type"]) for each in frames if "seq" not in each]
    assert answers == [*expected, "pong"]
    assert world.rows_of_ada() == before


@pytest.mark.parametrize("tool", sorted(set(TOOLS) - BUILT_IN))
@pytest.mark.parametrize("claims", [False, True], ids=["", "claiming-her-session"])
@pytest.mark.parametrize("caller", ["bob", "agent"])
async def test_no_tool_called_from_outside_reaches_what_is_adas(
    world: World, tool: str, caller: str, claims: bool
) -> None:
    before = world.rows_of_ada()
    call = {**CALL, "params": {"name": tool, "arguments": world.filled(TOOLS[tool])}}
    headers = {"Navi-Session": world.hers["session"] if claims else world.his}
    async with world.client(getattr(world, caller)) as client:
        response = await client.http.post("/mcp", json=call, headers=headers)
    is_bound = caller == "agent" and claims
    assert response.status_code == (403 if is_bound else 200)
    assert is_bound or response.json()["result"]["isError"], response.text
    assert MARK not in response.text
    assert world.rows_of_ada() == before


@pytest.mark.parametrize("tool", sorted(TOOLS))
async def test_no_tool_in_bobs_session_reaches_what_is_adas(world: World, tool: str) -> None:
    before = world.rows_of_ada()
    async with world.client(world.bob) as bob:
        session = await bob.session(name="his")
        arguments = json.dumps(world.filled(TOOLS[tool]))
        await bob.say(session, f"[[tool: {tool} | {arguments}]]")
        frames = await finished(bob, session)
    [called] = [frame for frame in frames if frame["type"] == "tool_call"]
    assert called["is_error"], called
    assert MARK not in json.dumps([called["result"]])
    assert world.rows_of_ada() == before
