"""A stand-in for the model providers, on 127.0.0.1: it gives prepared answers over real HTTP.

It streams as much of the Anthropic Messages, OpenAI Chat Completions and OpenAI Responses APIs as
a turn needs, and keeps every request, so that a test can see what the model received.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Call:
    id: str
    name: str
    arguments: str
    """JSON as the model writes it, which may be wrong."""


@dataclass(frozen=True)
class Answer:
    thinking: str = ""
    text: str = ""
    calls: Sequence[Call] = ()
    is_cut_off: bool = False
    status: int = 200
    problem: Json = field(default_factory=dict)
    """The body that goes with any other status."""
    never_ends: bool = False


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]
    body: Json


class StandIn:
    def __init__(self, answers: Sequence[Answer]) -> None:
        self.requests: list[Request] = []
        self.client_left = asyncio.Event()
        self._answers = list(answers)
        self._port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def last(self) -> Json:
        return self.requests[-1].body

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await _read(reader)
            self.requests.append(request)
            await self._reply(request, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.client_left.set()
        finally:
            writer.close()

    async def _reply(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        answer = self._answers.pop(0) if self._answers else Answer(status=400)
        if answer.status != 200:
            body = json.dumps(answer.problem).encode()
            writer.write(_head(answer.status, "application/json") + body)
            await writer.drain()
            return
        writer.write(_head(200, "text/event-stream"))
        for name, data in _events(request.path, answer):
            event = f"event: {name}\n" if name else ""
            writer.write(f"{event}data: {json.dumps(data)}\n\n".encode())
            await writer.drain()
            if answer.never_ends and _says_something(data):
                await reader.read()  # returns when the client hangs up
                self.client_left.set()
                return
        if "/chat/" in request.path:
            writer.write(b"data: [DONE]\n\n")
        await writer.drain()

    def started_on(self, port: int) -> None:
        self._port = port


@asynccontextmanager
async def stand_in(*answers: Answer) -> AsyncIterator[StandIn]:
    model = StandIn(answers)
    server = await asyncio.start_server(model.serve, "127.0.0.1", 0)
    model.started_on(server.sockets[0].getsockname()[1])
    async with server:
        yield model


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = {
        name.lower(): value.strip()
        for name, _, value in (line.partition(":") for line in head[1:] if line)
    }
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(head[0].split()[1], headers, json.loads(body))


def _head(status: int, kind: str) -> bytes:
    return (
        f"HTTP/1.1 {status} -\r\nContent-Type: {kind}\r\nConnection: close\r\n"
        # Client libraries would retry a failed request after a pause.
        "x-should-retry: false\r\n\r\n"
    ).encode()


def _says_something(data: Json) -> bool:
    choices = data.get("choices", ())
    return "delta" in data or any(choice["delta"].get("content") for choice in choices)


def _events(path: str, answer: Answer) -> Iterator[tuple[str, Json]]:
    if path.startswith("/v1/messages"):
        events = _anthropic(answer)
    elif path.startswith("/v1/chat/completions"):
        events = _openai_chat(answer)
    else:
        events = _openai_responses(answer)
    return events


def _pieces(text: str) -> list[str]:
    """Two deltas, so that a test can tell streaming from a single answer."""
    half = len(text) // 2
    return [piece for piece in (text[:half], text[half:]) if piece]


def _anthropic(answer: Answer) -> Iterator[tuple[str, Json]]:
    usage = {"input_tokens": 7, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    yield _named("message_start", message={**message, "usage": {**usage, "output_tokens": 1}})
    blocks: list[tuple[Json, list[Json]]] = []
    if answer.thinking:
        deltas = [{"type": "thinking_delta", "thinking": t} for t in _pieces(answer.thinking)]
        signature = {"type": "signature_delta", "signature": "signed"}
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signature]))
    if answer.text:
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(answer.text)]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for call in answer.calls:
        start = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        pieces = _pieces(call.arguments)
        blocks.append((start, [{"type": "input_json_delta", "partial_json": p} for p in pieces]))
    for index, (start, deltas) in enumerate(blocks):
        yield _named("content_block_start", index=index, content_block=start)
        for delta in deltas:
            yield _named("content_block_delta", index=index, delta=delta)
        yield _named("content_block_stop", index=index)
    reason = "tool_use" if answer.calls else "end_turn"
    reason = "max_tokens" if answer.is_cut_off else reason
    ending = {"stop_reason": reason, "stop_sequence": None}
    yield _named("message_delta", delta=ending, usage={**usage, "output_tokens": 5})
    yield _named("message_stop")


def _named(name: str, **data: Any) -> tuple[str, Json]:
    return name, {"type": name, **data}


def _openai_chat(answer: Answer) -> Iterator[tuple[str, Json]]:
    deltas: list[Json] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning": piece} for piece in _pieces(answer.thinking)]
    deltas += [{"content": piece} for piece in _pieces(answer.text)]
    for index, call in enumerate(answer.calls):
        function: Json = {"name": call.name, "arguments": ""}
        deltas.append(_chat_call(index, id=call.id, type="function", function=function))
        deltas += [
            _chat_call(index, function={"arguments": piece}) for piece in _pieces(call.arguments)
        ]
    for delta in deltas:
        yield "", _chat_chunk([{"index": 0, "delta": delta, "finish_reason": None}])
    reason = "tool_calls" if answer.calls else "stop"
    reason = "length" if answer.is_cut_off else reason
    yield "", _chat_chunk([{"index": 0, "delta": {}, "finish_reason": reason}])
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    yield "", {**_chat_chunk([]), "usage": usage}


def _chat_call(index: int, **call: Any) -> Json:
    return {"tool_calls": [{"index": index, **call}]}


def _chat_chunk(choices: list[Json]) -> Json:
    chunk = {"id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**chunk, "choices": choices}


def _openai_responses(answer: Answer) -> Iterator[tuple[str, Json]]:
    response: Json = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m"}
    response |= {"status": "in_progress", "output": [], "parallel_tool_calls": True}
    response |= {"tool_choice": "auto", "tools": []}
    items: list[Json] = []
    yield _named("response.created", sequence_number=0, response=response)
    if answer.text:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        item: Json = {"type": "message", "id": "msg_1", "role": "assistant", "content": [part]}
        item["status"] = "completed"
        yield _named(
            "response.output_item.added",
            sequence_number=1,
            output_index=0,
            item={**item, "content": [], "status": "in_progress"},
        )
        for piece in _pieces(answer.text):
            yield _named(
                "response.output_text.delta",
                sequence_number=2,
                item_id="msg_1",
                output_index=0,
                content_index=0,
                delta=piece,
                logprobs=[],
            )
        yield _named("response.output_item.done", sequence_number=3, output_index=0, item=item)
        items.append(item)
    for call in answer.calls:
        item = {"type": "function_call", "id": f"fc_{call.id}", "call_id": call.id}
        item |= {"name": call.name, "arguments": call.arguments, "status": "completed"}
        place = len(items)
        yield _named("response.output_item.added", sequence_number=4, output_index=place, item=item)
        yield _named("response.output_item.done", sequence_number=5, output_index=place, item=item)
        items.append(item)
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    usage_details: Json = {
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    status = "incomplete" if answer.is_cut_off else "completed"
    done = {**response, "status": status, "output": items, "usage": usage | usage_details}
    if answer.is_cut_off:
        done["incomplete_details"] = {"reason": "max_output_tokens"}
    yield _named(f"response.{status}", sequence_number=6, response=done)
