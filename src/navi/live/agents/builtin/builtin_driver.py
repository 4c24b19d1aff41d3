"""Navi's own agent: a pydantic-ai loop around a model and our tools.

pydantic-ai and the providers' libraries take about a second to import, so they are imported only
when the first turn needs them, and then in a thread: the event loop goes on meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from navi.base.errors import IterationLimit, NaviError
from navi.base.time_expressions import describe_moment
from navi.live.agents.builtin.context_summary import INSTRUCTIONS as SUMMARY_INSTRUCTIONS
from navi.live.agents.builtin.context_summary import digest, transcript
from navi.live.agents.builtin.event_adapter import Translation
from navi.live.agents.builtin.model_context import (
    CHARACTERS_PER_TOKEN,
    Past,
    model_messages,
    needs_compaction,
    past_of,
    split,
)
from navi.live.agents.builtin.model_failures import failure_of
from navi.live.agents.builtin.models import (
    SCRIPTED,
    Endpoint,
    build_model,
    endpoint_of,
    model_settings,
)
from navi.live.agents.builtin.tool_adapter import agent_tool
from navi.live.agents.driver import Driver, TurnRequest
from navi.live.model.event import Compacting, HistoryCompacted, TurnEvent, Usage
from navi.live.model.message import Message
from navi.live.model.session import Session
from navi.live.model.tool import Tool, ToolContext

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai import Agent
    from pydantic_ai.models import Model
    from pydantic_ai.usage import RunUsage

DEFAULT_INSTRUCTIONS = """\
You are Navi's built-in agent. You work for one person, in one directory, through the tools you \
are given. Do what was asked, look at the result before you call it done, and then say briefly \
what you did and what is left. When a tool refuses or fails, find another way or say so; never \
make up a result."""

JUDGE_INSTRUCTIONS = """\
You decide whether to notify a person of the answer to a background task. Answer YES if it \
contains something they would want to know or act on, NO if it only says that everything is normal \
or that nothing was found. Answer with that one word."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Brain:
    """Everything that turns with the same model share."""

    model: Model
    agent: Agent[ToolContext, str | None]
    endpoint: Endpoint | None
    """None for the scripted model."""


class BuiltinDriver(Driver):
    """Runs turns with a model of a provider, or with the scripted one.

    `base_urls` and `api_keys` go by provider, `anthropic` or `openai`, and win over the
    environment. `history_tokens` is how much of its past a model is shown before the older part is
    summarised. `request_timeout` is in seconds and counts while a model says nothing at all.
    """

    def __init__(
        self,
        *,
        model: str = SCRIPTED,
        tools: Sequence[Tool[Any]] = (),
        max_iterations: int = 25,
        instructions: str = DEFAULT_INSTRUCTIONS,
        base_urls: Mapping[str, str] | None = None,
        api_keys: Mapping[str, str] | None = None,
        environment: Mapping[str, str] | None = None,
        history_tokens: int = 120_000,
        request_timeout: float = 600.0,
        thinking: bool = True,
        remembered: Callable[[ToolContext], str] = lambda context: "",
    ) -> None:
        self._default_model = model
        self._tools = tuple(tools)
        self._max_iterations = max_iterations
        self._instructions = instructions
        self._base_urls = dict(base_urls or {})
        self._api_keys = dict(api_keys or {})
        self._environment = os.environ if environment is None else environment
        self._history_tokens = history_tokens
        self._request_timeout = request_timeout
        self._thinking = thinking
        self._remembered = remembered
        self._brains: dict[str, _Brain] = {}
        self._building = asyncio.Lock()
        self._client: AsyncClient | None = None

    async def turn(
        self, request: TurnRequest
    ) -> AsyncGenerator[TurnEvent | Usage | Compacting, None]:
        """See `Driver`. Usage comes last, also when the turn fails.

        Leave it with `aclose()` (or `contextlib.aclosing`) to stop early from outside.
        """
        brain = await self._brain(request.session)
        from pydantic_ai.exceptions import UsageLimitExceeded
        from pydantic_ai.usage import RunUsage, UsageLimits

        spent, spent_on_summary = RunUsage(), RunUsage()
        past = past_of(request.history)
        if needs_compaction(past, self._history_tokens):
            yield Compacting()
            older, kept = split(past, self._history_tokens)
            summary = await self._summary(brain, past.summary, older, spent_on_summary)
            past = Past(summary, kept)
            yield HistoryCompacted(summary, older[-1].idx)

        translation = Translation()
        failure: NaviError | None = None
        cause: Exception | None = None
        try:
            async with brain.agent.run_stream_events(
                _prompt(request),
                message_history=model_messages(past),
                instructions=self._instructions_in(request.context),
                deps=request.context,
                usage=spent,
                usage_limits=UsageLimits(request_limit=self._max_iterations),
            ) as events:
                async for event in events:
                    if (told := translation.of(event)) is not None:
                        yield told
        except UsageLimitExceeded as error:
            failure, cause = IterationLimit(self._max_iterations), error
        except Exception as error:
            failure, cause = failure_of(error, brain.endpoint), error
        yield _usage(spent + spent_on_summary)
        if failure is not None:
            raise failure from cause

    async def aclose(self) -> None:
        """Close the connections to providers."""
        self._brains.clear()
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def is_worth_telling(self, task: str, answer: str) -> bool:
        """The default model's opinion on an answer that nobody waits for."""
        brain = await self._brain_of(self._default_model)
        if brain.endpoint is None:
            return True
        # Not before: two threads that import pydantic-ai at once see it half loaded.
        from pydantic_ai.usage import RunUsage

        text = f"The task:\n{task}\n\nThe answer:\n{answer}"
        verdict = await self._ask(brain.model, JUDGE_INSTRUCTIONS, text, RunUsage())
        return not verdict.strip().upper().startswith("NO")

    def _instructions_in(self, context: ToolContext) -> str:
        """As one text: some servers refuse a second system message."""
        told = f"{self._instructions}\n\nYour working directory is {context.cwd}."
        if remembered := self._remembered(context):
            told += f"\n\nWhat you remember from earlier sessions:\n{remembered}"
        return told.strip()

    async def _brain(self, session: Session) -> _Brain:
        spec = SCRIPTED if session.driver == SCRIPTED else session.model or self._default_model
        return await self._brain_of(spec)

    async def _brain_of(self, spec: str) -> _Brain:
        if spec not in self._brains:
            async with self._building:
                if spec not in self._brains:
                    self._brains[spec] = await asyncio.to_thread(self._build, spec)
        return self._brains[spec]

    def _build(self, spec: str) -> _Brain:
        endpoint = None
        if spec != SCRIPTED:
            endpoint = endpoint_of(spec, self._environment, self._base_urls, self._api_keys)

        import pydantic_ai
        from pydantic_ai import Agent
        from pydantic_ai.models import create_async_httpx2_client

        from navi.live.agents.builtin.scripted_model import scripted_model

        pydantic_ai.BANNER_ENABLED = False  # it would greet the person on our standard error
        settings = None
        if endpoint is None:
            model: Model = scripted_model()
        else:
            if self._client is None:
                self._client = create_async_httpx2_client()
            model = build_model(endpoint, self._client)
            settings = model_settings(
                endpoint, thinking=self._thinking, request_timeout=self._request_timeout
            )
        agent = Agent(
            model,
            name="navi",
            # A model may have nothing to say after its last tool call.
            output_type=[str, type(None)],
            deps_type=ToolContext,
            model_settings=settings,
            tools=[agent_tool(tool) for tool in self._tools],
            # Wrong calls go back to the model until the iteration limit, and never end the turn.
            retries={"tools": self._max_iterations, "output": 2},
        )
        return _Brain(model, agent, endpoint)

    async def _summary(
        self, brain: _Brain, earlier: str | None, older: Sequence[Message], spent: RunUsage
    ) -> str:
        """By the model, or without it where that does not work: a long past never ends a turn."""
        limit = self._history_tokens * CHARACTERS_PER_TOKEN // 4
        if brain.endpoint is not None:
            text = transcript(earlier, older, self._history_tokens * CHARACTERS_PER_TOKEN)
            try:
                summary = await self._ask(brain.model, SUMMARY_INSTRUCTIONS, text, spent)
            except Exception as error:
                _log.warning("no summary from the model: %s", failure_of(error, brain.endpoint))
            else:
                if summary.strip():
                    return summary.strip()[:limit]
        return digest(earlier, older, limit)

    async def _ask(self, model: Model, instructions: str, text: str, spent: RunUsage) -> str:
        """One request, without tools or history."""
        from pydantic_ai import Agent, AgentRunResultEvent, UsageLimits

        agent = Agent(
            model,
            name="navi-aside",
            instructions=instructions,
            model_settings={"timeout": self._request_timeout},
        )
        one_request = UsageLimits(request_limit=1)
        async with agent.run_stream_events(text, usage=spent, usage_limits=one_request) as events:
            async for event in events:
                if isinstance(event, AgentRunResultEvent):
                    return event.result.output
        return ""


def _prompt(request: TurnRequest) -> str | list[str]:
    """With the present time. It is not in the instructions, because providers cache those."""
    if request.started_at is None:
        return request.prompt
    return [f"[It is now {describe_moment(request.started_at, request.zone)}.]", request.prompt]


def _usage(spent: RunUsage) -> Usage:
    """Each token counts once, as in the logs of agents; pydantic-ai counts cached ones twice."""
    cached = spent.cache_read_tokens + spent.cache_write_tokens
    return Usage(
        input_tokens=max(0, spent.input_tokens - cached),
        output_tokens=spent.output_tokens,
        cache_read_tokens=spent.cache_read_tokens,
        cache_creation_tokens=spent.cache_write_tokens,
    )
