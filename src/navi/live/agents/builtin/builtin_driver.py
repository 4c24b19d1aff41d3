"""Navi's own agent: a pydantic-ai loop around a model and our tools.

pydantic-ai and the providers' libraries take about a second to import. The first turn imports them,
in a thread, so that neither the server's start nor its event loop has to wait.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from navi.base.errors import (
    AgentFailed,
    IterationLimit,
    NaviError,
    NoModel,
    PermissionRefused,
)
from navi.base.time_expressions import describe_moment
from navi.live.agents.builtin.context_summary import INSTRUCTIONS as SUMMARY_INSTRUCTIONS
from navi.live.agents.builtin.context_summary import digest, text_to_summarise
from navi.live.agents.builtin.event_adapter import EventAdapter
from navi.live.agents.builtin.model_context import (
    CHARACTERS_PER_TOKEN,
    ModelContext,
    model_context,
    model_messages,
    needs_compaction,
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
from navi.live.model.event import Compacting, HistoryCompacted, ToolFinished, TurnEvent, Usage
from navi.live.model.message import Message
from navi.live.model.question import Decision, NewQuestion, Question
from navi.live.model.refusal import call_in_words
from navi.live.model.session import Session
from navi.live.model.tool import Tool, ToolContext
from navi.live.model.usage_limit import Account

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
class _LoadedModel:
    """A model and its agent, shared by all turns that use it."""

    model: Model
    agent: Agent[ToolContext, str | None]
    endpoint: Endpoint | None
    """None for the scripted model."""


class _TurnState:
    """State of one turn that its tools change and the driver reads."""

    def __init__(self, context: ToolContext) -> None:
        self._ask = context.ask
        self.context = replace(context, ask=self._ask_person, end_turn=self._end)
        self.has_ended = False
        self.denied_calls: list[str] = []

    def _end(self) -> None:
        self.has_ended = True

    async def _ask_person(self, new: NewQuestion) -> Question:
        question = await self._ask(new)
        if question.answer is None or question.answer.decision is Decision.DENY:
            self.denied_calls.append(call_in_words(new.tool_name or "", new.tool_input or {}))
        return question


class BuiltinDriver(Driver):
    """Runs turns with a provider's model or the scripted one.

    `model` is for sessions that name none; their turns fail without it. `base_urls` and `api_keys`
    are keyed by provider (`anthropic`, `openai`) and override the environment. History beyond
    `history_tokens` is summarised. `request_timeout` is the longest silence to accept from a model,
    in seconds. `memories` returns notes on earlier sessions, which become part of the instructions.
    """

    def __init__(
        self,
        *,
        model: str | None = SCRIPTED,
        tools: Sequence[Tool[Any]] = (),
        max_iterations: int = 25,
        instructions: str = DEFAULT_INSTRUCTIONS,
        base_urls: Mapping[str, str] | None = None,
        api_keys: Mapping[str, str] | None = None,
        environment: Mapping[str, str] | None = None,
        history_tokens: int = 120_000,
        request_timeout: float = 600.0,
        thinking: bool = True,
        memories: Callable[[ToolContext], str] = lambda context: "",
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
        self._memories = memories
        self._loaded: dict[str, _LoadedModel] = {}
        self._build_lock = asyncio.Lock()
        self._client: AsyncClient | None = None

    async def turn(
        self, request: TurnRequest
    ) -> AsyncGenerator[TurnEvent | Usage | Compacting, None]:
        """See `Driver`. The last event is the usage, even if the turn fails."""
        spec = _spec_of(request.session, self._default_model)
        if spec is None:
            raise NoModel
        loaded = await self._load(spec)
        from pydantic_ai.exceptions import UsageLimitExceeded
        from pydantic_ai.usage import RunUsage, UsageLimits

        usage, summary_usage = RunUsage(), RunUsage()
        context = model_context(request.history)
        if needs_compaction(context, self._history_tokens):
            yield Compacting()
            older, newer = split(context, self._history_tokens)
            summary = await self._summary(loaded, context.summary, older, summary_usage)
            context = ModelContext(summary, newer)
            yield HistoryCompacted(summary, older[-1].idx)

        adapter = EventAdapter()
        turn = _TurnState(request.context)
        failure: NaviError | None = None
        cause: Exception | None = None
        try:
            async with loaded.agent.run_stream_events(
                _prompt(request),
                message_history=model_messages(context),
                instructions=self._instructions_for(request.context),
                deps=turn.context,
                usage=usage,
                usage_limits=UsageLimits(request_limit=self._max_iterations),
            ) as events:
                async for event in events:
                    if (turn_event := adapter.adapt(event)) is not None:
                        yield turn_event
                    if turn.has_ended and isinstance(turn_event, ToolFinished):
                        break
        except UsageLimitExceeded as error:
            failure, cause = IterationLimit(self._max_iterations), error
        except Exception as error:
            failure, cause = failure_of(error, loaded.endpoint), error
        yield _usage(usage + summary_usage, spec)
        if failure is not None:
            raise failure from cause
        if adapter.is_cut_off:
            raise AgentFailed(
                "the model's answer was cut off, because it became too long",
                hint="send a message that asks it to continue",
            )
        if turn.denied_calls:
            raise PermissionRefused(turn.denied_calls, hint="answer its questions with allow")

    def account_of(self, session: Session) -> Account:
        """The provider's account that the server's key belongs to. All users share it."""
        spec = _spec_of(session, self._default_model)
        if spec is None or spec == SCRIPTED:
            return Account.of_agent(SCRIPTED, session)
        try:
            endpoint = endpoint_of(spec, self._environment, self._base_urls, self._api_keys)
        except AgentFailed:
            return Account.of(session)  # the turn itself reports the error
        return Account(endpoint.account, "builtin", None)

    async def aclose(self) -> None:
        """Close all connections to providers."""
        self._loaded.clear()
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def is_worth_reporting(self, task: str, answer: str) -> bool:
        """Ask the default model whether a background answer deserves a person's attention."""
        if self._default_model is None:
            return True
        loaded = await self._load(self._default_model)
        if loaded.endpoint is None:
            return True
        # Not before `_load`: if two threads import pydantic-ai at once, one sees it half loaded.
        from pydantic_ai.usage import RunUsage

        text = f"The task:\n{task}\n\nThe answer:\n{answer}"
        verdict = await self._ask(loaded.model, JUDGE_INSTRUCTIONS, text, RunUsage())
        return not verdict.strip().upper().startswith("NO")

    async def summarise(self, instructions: str, text: str) -> str:
        """The default model's answer to one request, without tools."""
        if self._default_model is None:
            raise NoModel(suggests_other_agents=False)
        loaded = await self._load(self._default_model)
        from pydantic_ai.usage import RunUsage

        try:
            summary = await self._ask(loaded.model, instructions, text, RunUsage())
        except Exception as error:
            raise failure_of(error, loaded.endpoint) from error
        return summary.strip()

    def _instructions_for(self, context: ToolContext) -> str:
        """All instructions in one text, because some servers refuse a second system message."""
        text = f"{self._instructions}\n\nYour working directory is {context.cwd}."
        if memories := self._memories(context):
            text += f"\n\nWhat you remember from earlier sessions:\n{memories}"
        return text.strip()

    async def _load(self, spec: str) -> _LoadedModel:
        if spec not in self._loaded:
            async with self._build_lock:
                if spec not in self._loaded:
                    self._loaded[spec] = await asyncio.to_thread(self._build, spec)
        return self._loaded[spec]

    def _build(self, spec: str) -> _LoadedModel:
        endpoint = None
        if spec != SCRIPTED:
            endpoint = endpoint_of(spec, self._environment, self._base_urls, self._api_keys)

        import pydantic_ai
        from pydantic_ai import Agent
        from pydantic_ai.models import create_async_httpx2_client

        from navi.live.agents.builtin.scripted_model import scripted_model

        pydantic_ai.BANNER_ENABLED = False  # keep its greeting off our standard error
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
            # The model may correct invalid calls until the iteration limit ends the turn.
            retries={"tools": self._max_iterations, "output": 2},
        )
        return _LoadedModel(model, agent, endpoint)

    async def _summary(
        self,
        loaded: _LoadedModel,
        earlier_summary: str | None,
        older: Sequence[Message],
        usage: RunUsage,
    ) -> str:
        """The model's summary. If it writes none, a digest, so that the turn can go on."""
        limit = self._history_tokens * CHARACTERS_PER_TOKEN // 4
        if loaded.endpoint is not None:
            text = text_to_summarise(
                earlier_summary, older, self._history_tokens * CHARACTERS_PER_TOKEN
            )
            try:
                summary = await self._ask(loaded.model, SUMMARY_INSTRUCTIONS, text, usage)
            except Exception as error:
                _log.warning("the model wrote no summary: %s", failure_of(error, loaded.endpoint))
            else:
                if summary.strip():
                    return summary.strip()[:limit]
        return digest(earlier_summary, older, limit)

    async def _ask(self, model: Model, instructions: str, text: str, usage: RunUsage) -> str:
        """The model's answer to one request, without tools or history."""
        from pydantic_ai import Agent, AgentRunResultEvent, UsageLimits

        agent = Agent(
            model,
            name="navi-aside",
            instructions=instructions,
            model_settings={"timeout": self._request_timeout},
        )
        one_request = UsageLimits(request_limit=1)
        async with agent.run_stream_events(text, usage=usage, usage_limits=one_request) as events:
            async for event in events:
                if isinstance(event, AgentRunResultEvent):
                    return event.result.output
        return ""


def _spec_of(session: Session, default_model: str | None) -> str | None:
    """The session's model; None if it names none and none is set up."""
    return SCRIPTED if session.driver == SCRIPTED else session.model or default_model


def _prompt(request: TurnRequest) -> str | list[str]:
    """The current time and the prompt. A time in the instructions would prevent caching."""
    if request.started_at is None:
        return request.prompt
    return [f"[It is now {describe_moment(request.started_at, request.zone)}.]", request.prompt]


def _usage(run_usage: RunUsage, model: str) -> Usage:
    """The usage, each token counted once. pydantic-ai counts cached tokens as input, too."""
    cached = run_usage.cache_read_tokens + run_usage.cache_write_tokens
    return Usage(
        input_tokens=max(0, run_usage.input_tokens - cached),
        output_tokens=run_usage.output_tokens,
        cache_read_tokens=run_usage.cache_read_tokens,
        cache_creation_tokens=run_usage.cache_write_tokens,
        model=model,
    )
