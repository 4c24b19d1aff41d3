from __future__ import annotations

import asyncio
import json

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.acceptance.contract.conftest import finished, receive, receive_until
from tests.server import Client, ServerProcess


async def test_a_turn_streams_the_frames_of_the_contract(client: Client) -> None:
    session_id = await client.session()
    async with client.watch(session_id, after=0) as socket:
        await client.say(session_id, "[[think: hm]] [[bash: echo hi]] [[say: done]]")
        frames = await receive_until(socket, "session_sync")

    by_type = {frame["type"]: frame for frame in frames}
    for frame in frames:
        assert {"type", "session_id", "seq", "turn_id"} <= set(frame)
    assert [frame["seq"] for frame in frames] == list(range(1, len(frames) + 1))
    assert (by_type["stream_start"]["origin"], by_type["stream_start"]["is_recall"]) == (
        "user",
        False,
    )
    assert by_type["thinking_delta"]["delta"] == "hm"
    assert set(by_type["tool_started"]) >= {"tool_call_id", "name", "arguments"}
    assert by_type["tool_call"]["result"].strip() == "hi"
    assert by_type["tool_call"]["is_error"] is False
    assert by_type["stream_delta"]["delta"] == "done"
    end = by_type["stream_end"]
    assert (end["outcome"], end["error"]) == ("ok", None)
    assert end["message_id"] == (await client.messages(session_id))[-1]["id"]
    assert by_type["session_sync"]["session"]["id"] == session_id
    assert by_type["input_queued"]["input"]["text"].startswith("[[think")
    assert by_type["input_delivered"]["input"]["turn_id"] == end["turn_id"]


async def test_a_client_that_comes_back_gets_what_it_missed_once(client: Client) -> None:
    session_id = await client.session()
    await client.say(session_id, "one")
    await client.say(session_id, "two")
    everything = await finished(client, session_id, turns=2)

    for after in range(len(everything)):
        async with client.watch(session_id, after=after) as socket:
            rest = [await receive(socket) for _ in everything[after:]]
        assert rest == everything[after:]


async def test_a_client_that_comes_in_the_middle_sees_the_beginning_too(client: Client) -> None:
    session_id = await client.session()
    await client.say(session_id, "[[say: a]] [[sleep: 0.3]] [[say: b]]")
    async with client.watch(session_id, after=0) as first:
        await receive_until(first, "stream_delta")
        async with client.watch(session_id, after=0) as second:
            late = await receive_until(second, "session_sync")
    assert [frame["seq"] for frame in late] == list(range(1, len(late) + 1))


async def test_without_after_only_what_is_new_is_shown(client: Client) -> None:
    session_id = await client.session()
    await client.say(session_id, "old")
    before = await finished(client, session_id)
    async with client.watch(session_id) as socket:
        await socket.send('{"type": "ping"}')
        assert (await receive(socket))["type"] == "pong"
        await client.say(session_id, "new")
        assert (await receive(socket))["seq"] == before[-1]["seq"] + 1


async def test_after_from_the_future_means_now(client: Client) -> None:
    session_id = await client.session()
    async with client.watch(session_id, after=10**15) as socket:
        await client.say(session_id, "hello")
        assert (await receive(socket))["type"] == "input_queued"


async def test_the_general_socket_shows_all_sessions_in_one_order(client: Client) -> None:
    async with client.watch() as socket:
        await socket.send('{"type": "ping"}')
        await receive_until(socket, "pong")
        pair = [await client.session(), await client.session()]
        await asyncio.gather(*(client.say(session_id, "hello") for session_id in pair))
        frames: list[dict[str, object]] = []
        while sum(frame["type"] == "session_sync" for frame in frames) < 2:
            frame = await receive(socket)
            if frame["session_id"] in pair:
                frames.append(frame)
    positions = [frame["position"] for frame in frames]
    assert positions == sorted(set(positions))  # type: ignore[type-var]

    async with client.watch(after=frames[0]["position"]) as socket:  # type: ignore[arg-type]
        again: list[dict[str, object]] = []
        while len(again) < len(frames) - 1:
            frame = await receive(socket)
            if frame["session_id"] in pair:
                again.append(frame)
    assert again == frames[1:]


async def test_a_socket_takes_inputs_and_stops(client: Client) -> None:
    session_id = await client.session()
    async with client.watch(session_id) as socket:
        await socket.send(json.dumps({"type": "input", "text": "[[sleep: 600]]"}))
        await receive_until(socket, "stream_start")
        await socket.send('{"type": "stop"}')
        frames = await receive_until(socket, "session_sync")
    assert [f["outcome"] for f in frames if f["type"] == "stream_end"] == ["stopped"]


async def test_the_general_socket_needs_to_know_for_which_session(client: Client) -> None:
    session_id = await client.session()
    async with client.watch() as socket:
        await socket.send('{"type": "input", "text": "hello"}')
        await receive_until(socket, "error")
        await socket.send(json.dumps({"type": "input", "text": "hello", "session_id": session_id}))
        # Other tests use this server too.
        while (await receive_until(socket, "session_sync"))[-1]["session_id"] != session_id:
            pass


@pytest.mark.parametrize(
    "frame",
    [
        "not json",
        "[]",
        "null",
        "{}",
        '{"type": "dance"}',
        '{"type": 7}',
        '{"type": "input"}',
        '{"type": "input", "text": ""}',
        '{"type": "input", "text": "x", "delivery_mode": "rude"}',
        '{"type": "input", "text": "x", "session_id": "another"}',
        b"\x00\xff",
        "[" * 50_000,
        json.dumps({"type": "input", "text": "x" * 1_000_001}),
    ],
    ids=lambda frame: str(frame)[:30],
)
async def test_a_malformed_frame_gets_an_error_and_the_socket_lives(
    client: Client, frame: str | bytes
) -> None:
    session_id = await client.session()
    async with client.watch(session_id) as socket:
        await socket.send(frame)
        error = await receive(socket)
        assert error["type"] == "error"
        assert error["kind"]
        assert error["message"]
        assert error["hint"]
        await socket.send('{"type": "ping"}')
        assert (await receive(socket))["type"] == "pong"


async def test_the_token_may_come_with_the_first_frame(
    server: ServerProcess, client: Client
) -> None:
    session_id = await client.session()
    address = client.address.replace("http", "ws") + f"/ws/sessions/{session_id}?after=0"
    async with connect(address, proxy=None) as socket:
        await socket.send(json.dumps({"type": "auth", "token": server.token}))
        assert (await receive(socket))["type"] == "session_update"


@pytest.mark.parametrize(
    "first", ['{"type": "auth", "token": "wrong"}', '{"type": "ping"}', "nonsense", b"\x00"]
)
async def test_a_wrong_first_frame_closes_the_socket_with_a_reason(
    client: Client, first: str | bytes
) -> None:
    async with connect(client.address.replace("http", "ws") + "/ws", proxy=None) as socket:
        await socket.send(first)
        assert (await receive(socket))["type"] == "error"
        with pytest.raises(ConnectionClosed):
            await receive(socket)


@pytest.mark.parametrize("path", ["/ws/sessions/nobody", "/ws?after=soon"])
async def test_a_socket_for_what_is_not_there_says_why_and_closes(
    client: Client, path: str
) -> None:
    address = client.address.replace("http", "ws") + path
    async with connect(address, additional_headers=client.headers, proxy=None) as socket:
        error = await receive(socket)
        assert (error["type"], bool(error["hint"])) == ("error", True)
        with pytest.raises(ConnectionClosed):
            await receive(socket)


async def test_a_socket_whose_address_is_too_long_is_refused_at_once(
    server: ServerProcess,
) -> None:
    address = server.address.replace("http", "ws") + "/ws?x=" + "x" * 9_000
    with pytest.raises(InvalidStatus) as refusal:
        async with connect(address, proxy=None):
            pass
    assert refusal.value.response.status_code == 400
