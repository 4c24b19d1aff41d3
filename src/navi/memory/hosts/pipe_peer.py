"""Syncs with another recall, in both directions, through a pipe such as the one of ssh.

    client   hello, offers             bundles, end              wants             receipt
    server          hello       wants               receipt, offers     bundles, end

Only one side writes at a time, so that full pipes can't block both. A session is stored as soon as
it is complete, so after an interruption the next sync continues where this one stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from navi.base.errors import NaviError
from navi.memory.hosts import received
from navi.memory.hosts.bundle import LARGEST_FILE
from navi.memory.hosts.stock import Offer, Stock
from navi.memory.hosts.sync_request import SyncRequest
from navi.memory.hosts.sync_result import SyncResult
from navi.memory.hosts.this_machine import ID, Host

VERSION = 1
GREETING = b"recall-sync "
LONGEST_GREETING = 64 * 1024
"""A login may print something before recall starts there."""
LONGEST_LINE = 64 * 1024 * 1024
BLOCK = 256 * 1024

T = TypeVar("T")


class PeerError(NaviError):
    """The other side ended, or sent something that this version doesn't understand."""

    kind = "peer_error"


class Hello(msgspec.Struct, frozen=True):
    host: Host
    since: datetime | None = None
    is_masked: bool = False
    client_sends: bool = True
    client_receives: bool = True
    is_dry_run: bool = False
    version: int = 0


class Bundle(msgspec.Struct, frozen=True, tag="bundle"):
    """`size` bytes follow."""

    host_id: str
    id: str
    size: int


class End(msgspec.Struct, frozen=True, tag="end"):
    pass


class Receipt(msgspec.Struct, frozen=True):
    received: int
    set_aside: list[str]


Wants = list[tuple[str, str]]
"""The ids of machines and sessions."""


def run_client(
    reader: IO[bytes], writer: IO[bytes], stock: Stock, request: SyncRequest
) -> tuple[Host, SyncResult]:
    """Sync with the server at the other end. Returns its machine and the result."""
    pipe = _Pipe(reader, writer)
    pipe.greet(
        Hello(
            stock.host,
            request.since,
            request.is_masked,
            request.sends,
            request.receives,
            request.is_dry_run,
            VERSION,
        )
    )
    peer = pipe.read_greeting()
    _require_other_machine(stock.host, peer.host)
    result = SyncResult()
    _send(pipe, stock, request, result)
    receipt = pipe.read(Receipt)
    result.refused += [f"not accepted there: {each}" for each in receipt.set_aside]
    _receive(pipe, stock, request, result)
    pipe.write(Receipt(result.received, result.refused))
    result.peer_id = peer.host.id
    return peer.host, result


def run_server(reader: IO[bytes], writer: IO[bytes], stock: Stock) -> SyncResult:
    """Answer a client."""
    pipe = _Pipe(reader, writer)
    hello = pipe.read_greeting()
    pipe.greet(Hello(stock.host, version=VERSION))
    _require_other_machine(stock.host, hello.host)
    request = SyncRequest(
        hello.since,
        hello.is_masked,
        sends=hello.client_receives,
        receives=hello.client_sends,
        is_dry_run=hello.is_dry_run,
    )
    result = SyncResult()
    _receive(pipe, stock, request, result)
    pipe.write(Receipt(result.received, result.refused))
    _send(pipe, stock, request, result)
    pipe.read(Receipt)
    return result


def _require_other_machine(own: Host, peer: Host) -> None:
    if own.id == peer.id:
        raise PeerError(
            "the peer is this machine, or has a copy of its data folder",
            hint="if the folder was copied, remove recall.hosts/this-machine.json on one of them",
        )


def _send(pipe: _Pipe, stock: Stock, request: SyncRequest, result: SyncResult) -> None:
    offers = stock.offers(request.since, masked=request.is_masked) if request.sends else []
    pipe.write(offers)
    wants = set(pipe.read(Wants))
    wanted = [offer for offer in offers if offer.key in wants]
    if request.is_dry_run:
        result.sent = len(wanted)
        wanted = []
    for offer, path in stock.bundles(wanted, masked=request.is_masked):
        pipe.write_bundle(offer, path)
        result.sent += 1
    pipe.write(End())


def _receive(pipe: _Pipe, stock: Stock, request: SyncRequest, result: SyncResult) -> None:
    offers = pipe.read(list[Offer])
    result.host_ids |= {offer.host.id for offer in offers}
    wants = {offer.key for offer in stock.wants(offers)} if request.receives else set()
    pipe.write(sorted(wants))
    if request.is_dry_run:
        result.received = len(wants)
    for bundle, temporary in pipe.read_bundles(stock):
        key = (bundle.host_id, bundle.id)
        if key not in wants:
            temporary.unlink()
            raise PeerError("the peer sent a session that this machine did not request")
        stock.receive(temporary, key, f"session {bundle.id}", result)


class _Pipe:
    """Lines of JSON, and bundles between them."""

    def __init__(self, reader: IO[bytes], writer: IO[bytes]) -> None:
        self._reader = reader
        self._writer = writer

    def greet(self, hello: Hello) -> None:
        self._send(GREETING + msgspec.json.encode(hello) + b"\n")

    def read_greeting(self) -> Hello:
        skipped = 0
        while skipped < LONGEST_GREETING:
            line = self._line()
            if line.startswith(GREETING):
                hello = _decode(line.removeprefix(GREETING), Hello)
                if hello.version != VERSION or not hello.host.is_valid:
                    raise PeerError(
                        "the other machine has a version of recall that can't sync with this one",
                        hint="update recall on both machines",
                    )
                return hello
            skipped += len(line)
        raise PeerError("the other side is not recall", hint="check the address of the peer")

    def write(self, value: object) -> None:
        self._send(msgspec.json.encode(value) + b"\n")

    def read(self, kind: type[T]) -> T:
        return _decode(self._line(), kind)

    def write_bundle(self, offer: Offer, path: Path) -> None:
        with open(path, "rb") as file:
            size = path.stat().st_size
            head = Bundle(offer.host.id, offer.id, size)
            self._write(msgspec.json.encode(head) + b"\n")
            while block := file.read(BLOCK):
                self._write(block)

    def read_bundles(self, stock: Stock) -> Iterator[tuple[Bundle, Path]]:
        """Each bundle in a temporary file, which the caller removes."""
        while True:
            head = self.read(Bundle | End)  # type: ignore[arg-type]
            if isinstance(head, End):
                return
            if not 0 <= head.size <= LARGEST_FILE or not ID.fullmatch(head.id):
                raise PeerError("the other side sent an invalid session header")
            temporary = received.temporary_file(stock.paths)
            try:
                self._read_into(temporary, head.size)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
            yield head, temporary

    def _read_into(self, path: Path, size: int) -> None:
        with open(path, "wb") as file:
            while size:
                block = self._reader.read(min(size, BLOCK))
                if not block:
                    raise _ended()
                file.write(block)
                size -= len(block)

    def _line(self) -> bytes:
        try:
            line = self._reader.readline(LONGEST_LINE)
        except ConnectionError as error:
            raise _ended() from error
        if not line.endswith(b"\n"):
            raise _ended()
        return line

    def _send(self, data: bytes) -> None:
        self._write(data)
        try:
            self._writer.flush()
        except OSError as error:
            raise _ended() from error

    def _write(self, data: bytes) -> None:
        try:
            self._writer.write(data)
        except OSError as error:
            raise _ended() from error


def _decode(line: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise PeerError(
            "the other machine sent something that this version of recall doesn't understand",
            hint="update recall on both machines",
        ) from error


def _ended() -> PeerError:
    return PeerError(
        "the connection to the peer ended",
        hint="run the same command again; it continues where it stopped",
    )


def arguments(program: str) -> Sequence[str]:
    """The command that answers on the other machine."""
    return [program, "sync", "--stdio"]
