"""One request and its answer, on its own connection.

Plain HTTP is written by hand: agents run `sm` all the time, and importing an HTTP library takes
longer than the call itself. HTTPS uses Python's own `http.client`.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass

RECEIVE_BYTES = 65_536


class NotHttp(ValueError):
    """The answer is not HTTP, or is incomplete."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    date: str
    body: bytes
    version: str | None = None
    """Navi's version; None if the server does not name it."""


def exchange(
    address: str,
    method: str,
    path: str,
    data: bytes | None,
    headers: Mapping[str, str],
    timeout: float,
) -> Answer:
    """Send a request. Raises `OSError` if nothing answers, `NotHttp` if the answer isn't HTTP."""
    scheme, _, netloc = address.partition("://")
    if scheme == "https":
        return _exchange_over_https(netloc, method, path, data, headers, timeout)
    all_headers = {
        "Host": netloc,
        "Connection": "close",
        "Content-Length": str(len(data or b"")),
        **headers,
    }
    lines = [
        f"{method} {path} HTTP/1.1",
        *(f"{name}: {value}" for name, value in all_headers.items()),
    ]
    request = "\r\n".join([*lines, "", ""]).encode("latin-1") + (data or b"")
    with socket.create_connection(_host_and_port(netloc), timeout) as connection:
        connection.sendall(request)
        received = bytearray()
        while block := connection.recv(RECEIVE_BYTES):
            received += block
    return _parse_answer(bytes(received))


def _host_and_port(netloc: str) -> tuple[str, int]:
    host, colon, port = netloc.rpartition(":")
    if not colon or port.endswith("]"):
        return netloc.strip("[]"), 80
    return host.strip("[]"), int(port)


def _parse_answer(received: bytes) -> Answer:
    head, end, body = received.partition(b"\r\n\r\n")
    status_line, *header_lines = head.decode("latin-1").split("\r\n")
    version, _, rest = status_line.partition(" ")
    status = rest[:3]
    if not end or not version.startswith("HTTP/1.") or not status.isdecimal():
        raise NotHttp(status_line[:100])
    headers = {}
    for line in header_lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = _join_chunks(body)
    elif headers.get("content-length", str(len(body))) != str(len(body)):
        raise NotHttp("the answer is incomplete")
    return Answer(int(status), headers.get("date", ""), body, headers.get("navi-version"))


def _join_chunks(body: bytes) -> bytes:
    """Join the chunks of a body with `Transfer-Encoding: chunked`."""
    whole = bytearray()
    while True:
        size, end, body = body.partition(b"\r\n")
        try:
            length = int(size.split(b";")[0], 16)
        except ValueError as error:
            raise NotHttp("the answer is incomplete") from error
        if not end or len(body) < length:
            raise NotHttp("the answer is incomplete")
        if length == 0:
            return bytes(whole)
        whole += body[:length]
        body = body[length + 2 :]


def _exchange_over_https(
    netloc: str,
    method: str,
    path: str,
    data: bytes | None,
    headers: Mapping[str, str],
    timeout: float,
) -> Answer:
    from http.client import HTTPException, HTTPSConnection

    connection = HTTPSConnection(netloc, timeout=timeout)
    try:
        connection.request(method, path, data, {"Connection": "close", **headers})
        response = connection.getresponse()
        date, version = response.getheader("Date", ""), response.getheader("Navi-Version")
        return Answer(response.status, date, response.read(), version)
    except HTTPException as error:
        raise NotHttp(str(error)) from error
    finally:
        connection.close()
