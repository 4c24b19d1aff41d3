"""Turns of the built-in driver on a stand-in for its models."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from navi.live.agents.builtin.builtin_driver import BuiltinDriver
from navi.live.agents.driver import TurnRequest
from navi.live.model.access.user import Role
from navi.live.model.event import Compacting, TextDelta, ThinkingDelta, TurnEvent, Usage
from navi.live.model.message import Message
from navi.live.model.session import Session, SessionState
from navi.live.model.tool import ToolContext, ToolResult
from tests.integration.agents.stand_in import Answer, StandIn, stand_in
from tests.unit.agents.messages import NOON

SECRET = "hush-hush-1234"

Work = Callable[[ToolContext, Mapping[str, Any]], Awaitable[ToolResult]]


class Anything(BaseModel):
    model_config = ConfigDict(extra="allow")

    command: str | None = None


async def _say_so(context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
    return ToolResult(f"did {dict(arguments)}")


@dataclass(frozen=True)
class PlainTool:
    """A tool that does what the test says."""

    name: str = "terminal"
    work: Work = _say_so
    description: str = "Does something."
    arguments: type[Anything] = Anything

    async def run(self, context: ToolContext, arguments: Anything) -> ToolResult:
        return await self.work(context, arguments.model_dump(exclude_unset=True))


@dataclass
class EndlessTool:
    """A tool that waits forever and records how it ended."""

    name: str = "terminal"
    description: str = "Waits."
    arguments: type[Anything] = Anything
    started: asyncio.Event = field(default_factory=asyncio.Event)
    was_cancelled: bool = False

    async def run(self, context: ToolContext, arguments: Anything) -> ToolResult:
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        return ToolResult("it came after all")


def a_session(driver: str = "builtin", model: str | None = None) -> Session:
    session = Session.new("local", driver, "/projects/here", NOON, id="s1", name="one", model=model)
    return replace(session, state=SessionState.RUNNING)


def a_request(
    prompt: str,
    history: Sequence[Message] = (),
    session: Session | None = None,
    **fields: Any,
) -> TurnRequest:
    context = ToolContext("s1", Path("/projects/here"), "local", Role.ADMIN, {})
    return TurnRequest(session or a_session(), prompt, history, context, **fields)


async def events_of(driver: BuiltinDriver, request: TurnRequest) -> list[TurnEvent | Usage]:
    async with aclosing(driver.turn(request)) as events:
        return [event async for event in events if not isinstance(event, Compacting)]


async def events_and_error(
    driver: BuiltinDriver, request: TurnRequest
) -> tuple[list[TurnEvent | Usage], Exception | None]:
    """The events of a turn before it failed, and the error."""
    events: list[TurnEvent | Usage] = []
    try:
        async for event in driver.turn(request):
            if not isinstance(event, Compacting):
                events.append(event)
    except Exception as error:
        return events, error
    return events, None


def text_of(events: Sequence[TurnEvent | Usage]) -> str:
    return "".join(event.delta for event in events if isinstance(event, TextDelta))


def thinking_of(events: Sequence[TurnEvent | Usage]) -> str:
    return "".join(event.delta for event in events if isinstance(event, ThinkingDelta))


every_provider = pytest.mark.parametrize("model", ["anthropic:m", "openai:m", "openai-responses:m"])


@asynccontextmanager
async def provider(
    model: str, *answers: Answer, **settings: Any
) -> AsyncIterator[tuple[StandIn, BuiltinDriver]]:
    async with stand_in(*answers) as server:
        urls = {"anthropic": server.url, "openai": f"{server.url}/v1"}
        keys = {"anthropic": SECRET, "openai": SECRET}
        driver = BuiltinDriver(
            model=model, base_urls=urls, api_keys=keys, environment={}, **settings
        )
        try:
            yield server, driver
        finally:
            await driver.aclose()
