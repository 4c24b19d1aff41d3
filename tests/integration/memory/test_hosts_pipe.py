"""The conversation of two machines through a pipe, with a peer that does not keep to it."""

from __future__ import annotations

import io
import os
from contextlib import suppress
from pathlib import Path
from threading import Thread

import msgspec
import pytest

from navi.memory.hosts import pipe_peer
from navi.memory.hosts.pipe_peer import Bundle, End, Hello, PeerError, Receipt
from navi.memory.hosts.stock import Offer
from navi.memory.hosts.sync_result import SyncResult
from navi.memory.hosts.this_machine import Host
from navi.memory.index_paths import IndexPaths
from tests.machines import SYNC, Machine, machine

STRANGER = Host("5a" * 8, "stranger")
HELLO = pipe_peer.GREETING + msgspec.json.encode(Hello(STRANGER, version=1)) + b"\n"


@pytest.fixture
def desk(
    private_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    prepared_index: IndexPaths,
) -> Machine:
    return machine(tmp_path, "desk", monkeypatch, prepared_index)


def lines(*values: object) -> bytes:
    return b"".join(msgspec.json.encode(value) + b"\n" for value in values)


def talk(desk: Machine, stream: bytes) -> SyncResult:
    return pipe_peer.run_client(io.BytesIO(stream), io.BytesIO(), desk.stock(), SYNC)[1]


def test_what_a_login_prints_is_skipped(desk: Machine) -> None:
    stream = b"Welcome!\n\x1b[1mLast login: never\n" + HELLO
    stream += lines([], Receipt(0, []), [], End())
    assert talk(desk, stream) == SyncResult(peer_id=STRANGER.id)


@pytest.mark.parametrize(
    ("stream", "problem"),
    [
        (b"", "ended"),
        (b"bash: no such file\n" * 9999, "not recall"),
        (HELLO.replace(b'"version":1', b'"version":2'), "version of recall"),
        (HELLO.replace(b"stranger", b"str\\u001bnger"), "version of recall"),
        (HELLO + b"[[[[\n", "doesn't understand"),
        (HELLO + b"[" * 100_000 + b"\n", "doesn't understand"),
        (HELLO + lines([]), "ended"),
        (HELLO + lines([], Receipt(0, []), [], Bundle("..", "../../x", 3)) + b"abc", "invalid"),
        (HELLO + lines([], Receipt(0, []), [], Bundle("5a" * 8, "0" * 16, -1)), "invalid"),
        (HELLO + lines([], Receipt(0, []), [], Bundle("5a" * 8, "0" * 16, 10)) + b"ab", "ended"),
        (HELLO + lines([], Receipt(0, []), [], Bundle("5a" * 8, "0" * 16, 2)) + b"ab", "request"),
    ],
    ids=range(11),
)
def test_a_peer_that_says_something_else_is_refused(
    desk: Machine, stream: bytes, problem: str
) -> None:
    with pytest.raises(PeerError, match=problem):
        talk(desk, stream)
    assert not list((desk.paths.received).glob(".*"))


def test_another_session_than_announced_is_refused(desk: Machine) -> None:
    offer = Offer(STRANGER, "0" * 16, 1)
    stream = HELLO + lines([], Receipt(0, []), [offer], Bundle(STRANGER.id, offer.id, 5))
    result = talk(desk, stream + b"abcde" + lines(End()))
    assert result.received == 0
    assert "damaged" in result.refused[0]


def test_a_machine_does_not_sync_with_itself(desk: Machine) -> None:
    own = msgspec.json.encode(Hello(desk.stock().host, version=1))
    with pytest.raises(PeerError, match="this machine"):
        talk(desk, pipe_peer.GREETING + own + b"\n")


def test_a_connection_lost_while_a_session_is_sent_is_an_error_in_words(desk: Machine) -> None:
    desk.say("one", *(os.urandom(4_000).hex() for _ in range(20)))
    stock = desk.stock()
    wants = lines([(stock.host.id, id) for id in desk.ids()])
    to_peer, to_desk = os.pipe(), os.pipe()

    def take_the_offers_and_leave() -> None:
        with os.fdopen(to_peer[0], "rb") as reader, os.fdopen(to_desk[1], "wb") as writer:
            writer.write(HELLO)
            writer.flush()
            reader.readline()
            reader.readline()
            reader.close()
            writer.write(wants)

    peer = Thread(target=take_the_offers_and_leave)
    peer.start()
    writer = os.fdopen(to_peer[1], "wb")
    with os.fdopen(to_desk[0], "rb") as reader, pytest.raises(PeerError, match="ended"):
        pipe_peer.run_client(reader, writer, stock, SYNC)
    peer.join()
    with suppress(BrokenPipeError):  # what was not sent
        writer.close()
