from __future__ import annotations

import asyncio
import gzip
import itertools
import socket
import subprocess
import sys
import tracemalloc
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from navi.base.errors import InvalidInput, NotAllowed
from navi.live.model.tool import ToolContext, ToolResult
from navi.live.tools.web.http_request import HttpRequest
from navi.live.tools.web.public_address import Address
from tests.integration.tools.calls import run_tool
from tests.integration.tools.web import WebServer
from tests.waiting import eventually


class Names:
    """A name service under the test's control. A name with several addresses
    answers with the next one each time, as an attacker's would."""

    def __init__(self, **meanings: Sequence[str]) -> None:
        self.meanings = {name: list(addresses) for name, addresses in meanings.items()}
        self.lookups: list[str] = []

    async def resolve(self, host: str) -> Sequence[Address]:
        self.lookups.append(host)
        if host not in self.meanings:
            return [ip_address(host)]
        addresses = self.meanings[host]
        return [ip_address(text) for text in addresses.pop(0).split()]


@pytest.fixture
def http() -> HttpRequest:
    return HttpRequest(allow_private=True)


async def run(tool: HttpRequest, context: ToolContext, url: str, **more: Any) -> ToolResult:
    return await run_tool(tool, context, {"url": url, **more})


class TestRequest:
    async def test_a_page_comes_with_its_status_and_a_few_headers(
        self, http: HttpRequest, context: ToolContext, web: WebServer
    ) -> None:
        headers = "Content-Type: text/plain; charset=utf-8\r\nX-Noise: 1\r\n"
        web.answer("/a?b=c", "Grüße".encode(), headers=headers)
        assert await run(http, context, web.url("/a?b=c")) == ToolResult(
            f"HTTP/1.1 200 OK\nurl: {web.url('/a?b=c')}\n"
            "content-type: text/plain; charset=utf-8\ncontent-length: 7\n\nGrüße"
        )

    async def test_method_headers_and_body_arrive(
        self, http: HttpRequest, context: ToolContext, web: WebServer
    ) -> None:
        web.answer("/", status="201 Created")
        headers = {"Content-Type": "application/json", "X-Name": "Zoë"}
        result = await run(
            http, context, web.url(), method="POST", headers=headers, body='{"ä": 1}'
        )
        (request,) = web.requests
        assert (request.method, request.body.decode()) == ("POST", '{"ä": 1}')
        assert request.headers["content-type"] == "application/json"
        assert request.headers["x-name"] == "Zoë"
        assert result.text.startswith("HTTP/1.1 201 Created\n")

    async def test_head_has_no_body(
        self, http: HttpRequest, context: ToolContext, web: WebServer
    ) -> None:
        web.answers["/"] = [b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"]
        result = await run(http, context, web.url(), method="HEAD")
        assert result.text == f"HTTP/1.1 200 OK\nurl: {web.url()}\ncontent-length: 99"

    @pytest.mark.parametrize("status", ["404 Not Found", "500 Oops"])
    async def test_a_status_that_says_failure_is_an_error_with_its_body(
        self, http: HttpRequest, context: ToolContext, web: WebServer, status: str
    ) -> None:
        web.answer("/", b"why", status=status)
        result = await run(http, context, web.url())
        assert result.is_error
        assert status in result.text
        assert result.text.endswith("\n\nwhy")

    async def test_a_password_in_the_url_is_sent_but_not_shown(
        self, http: HttpRequest, context: ToolContext, web: WebServer
    ) -> None:
        web.answer("/")
        result = await run(http, context, f"http://me:secret@127.0.0.1:{web.port}/")
        assert web.requests[0].headers["authorization"] == "Basic bWU6c2VjcmV0"
        assert "secret" not in result.text

    async def test_proxies_of_the_environment_are_ignored(
        self,
        http: HttpRequest,
        context: ToolContext,
        web: WebServer,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        web.answer("/", b"direct")
        assert (await run(http, context, web.url())).text.endswith("direct")

    @pytest.mark.parametrize(
        ("url", "message"),
        [
            ("ftp://example.org/", "scheme 'ftp'"),
            ("file:///etc/passwd", "scheme 'file'"),
            ("example.org", "not a URL|scheme ''"),
            ("http://", "no host"),
            ("http:///path", "no host"),
            ("http://example.org:99999/", "no port 99999"),
            ("http://example.org:0/", "no port 0"),
            ("http://[::1/", "not a URL"),
            ("http://exa\tmple.org/", "not a URL"),
        ],
    )
    async def test_what_is_not_a_web_address_is_refused(
        self, http: HttpRequest, context: ToolContext, url: str, message: str
    ) -> None:
        with pytest.raises(InvalidInput, match=message):
            await run(http, context, url)

    @pytest.mark.parametrize(
        "headers",
        [{"Host": "a"}, {"content-length": "3"}, {"a b": "c"}, {"a": "b\r\nc: d"}, {"": "a"}],
    )
    async def test_headers_that_would_forge_the_request_are_refused(
        self, http: HttpRequest, context: ToolContext, headers: dict[str, str]
    ) -> None:
        with pytest.raises(InvalidInput, match="header"):
            await run(http, context, "http://127.0.0.1:9/", headers=headers)


class TestBody:
    async def test_a_long_body_is_cut_and_said_to_be(
        self, context: ToolContext, web: WebServer
    ) -> None:
        http = HttpRequest(allow_private=True, body_limit_bytes=10)
        web.answer("/", "€€€€€".encode())
        text = (await run(http, context, web.url())).text
        assert text.endswith("\n\n€€€\n[cut after 10 bytes; a Range header can ask for the rest]")
        web.answer("/", b"1234567890")
        assert (await run(http, context, web.url())).text.endswith("\n\n1234567890")

    async def test_an_endless_body_is_not_read_to_its_end(
        self, http: HttpRequest, context: ToolContext, web: WebServer
    ) -> None:
        head = b"HTTP/1.1 200 OK\r\n\r\n"
        web.answers["/"] = itertools.chain([head], itertools.repeat(b"x" * 10_000))
        result = await run(http, context, web.url())
        assert "[cut after 50,000 bytes" in result.text

    async def test_a_packed_body_is_unpacked_without_filling_the_memory(
        self, http: HttpRequest, context: ToolContext, web: WebServer
    ) -> None:
        bomb = gzip.compress(b"x" * 100_000_000)
        web.answer("/", bomb, headers="Content-Encoding: gzip\r\n")
        tracemalloc.start()
        try:
            result = await run(http, context, web.url())
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert "\n\nxxxx" in result.text
        assert "[cut after 50,000 bytes" in result.text
        assert peak < 20_000_000

    async def test_a_binary_body_is_described(
        self, http: HttpRequest, context: ToolContext, web: WebServer
    ) -> None:
        web.answer("/", b"\x89PNG\r\n\x1a\n\0\0", headers="Content-Type: image/png\r\n")
        assert (await run(http, context, web.url())).text.endswith(
            "\n\n(a binary body of 10 bytes, not shown; "
            "it begins with 89 50 4e 47 0d 0a 1a 0a 00 00)"
        )

    @pytest.mark.parametrize(
        ("charset", "body", "expected"),
        [
            ("iso-8859-1", b"gr\xfc\xdfe", "grüße"),
            ("utf-16", "grüße".encode("utf-16"), "grüße"),
            ("windows-1251", "привет".encode("cp1251"), "привет"),
            ("nonsense", "grüße".encode(), "grüße"),
            ("unicode_escape", rb"\ud800", r"\ud800"),
            ("utf-7", b"+2AA-", "+2AA-"),
            ("base64", b"aGFsbG8=", "aGFsbG8="),
            ("utf-8", b"gr\xfc\xc3\x9fe and so on", "gr\ufffdße and so on"),
        ],
    )
    async def test_the_character_set_of_the_answer_is_honoured_if_it_is_one(
        self,
        http: HttpRequest,
        context: ToolContext,
        web: WebServer,
        charset: str,
        body: bytes,
        expected: str,
    ) -> None:
        web.answer("/", body, headers=f"Content-Type: text/plain; charset={charset}\r\n")
        assert (await run(http, context, web.url())).text.endswith(f"\n\n{expected}")


class TestRedirects:
    async def test_they_are_followed_to_the_page(
        self, http: HttpRequest, context: ToolContext, web: WebServer
    ) -> None:
        web.redirect("/1", "/2")
        web.redirect("/2", web.url("/3"))
        web.answer("/3", b"here")
        result = await run(http, context, web.url("/1"))
        assert f"url: {web.url('/3')}\n" in result.text
        assert result.text.endswith("here")

    async def test_five_are_followed_but_not_six(
        self, http: HttpRequest, context: ToolContext, web: WebServer
    ) -> None:
        for number in range(1, 7):
            web.redirect(f"/{number}", f"/{number + 1}")
        web.answer("/7", b"here")
        assert (await run(http, context, web.url("/2"))).text.endswith("here")
        result = await run(http, context, web.url("/1"))
        assert result == ToolResult(
            f"gave up after 5 redirects; the next was {web.url('/7')}", is_error=True
        )

    @pytest.mark.parametrize(
        ("status", "method", "body"),
        [
            ("301 Moved", "GET", b""),
            ("302 Found", "GET", b""),
            ("303 See Other", "GET", b""),
            ("307 Temporary", "POST", b"data"),
            ("308 Permanent", "POST", b"data"),
        ],
    )
    async def test_a_post_is_only_repeated_where_that_is_promised(
        self,
        http: HttpRequest,
        context: ToolContext,
        web: WebServer,
        status: str,
        method: str,
        body: bytes,
    ) -> None:
        web.redirect("/1", "/2", status)
        web.answer("/2")
        await run(http, context, web.url("/1"), method="POST", body="data")
        assert (web.requests[1].method, web.requests[1].body) == (method, body)

    async def test_secrets_stay_with_the_server_they_are_for(
        self, context: ToolContext, web: WebServer
    ) -> None:
        names = Names(**{"a.example": ["127.0.0.1"] * 2, "b.example": ["127.0.0.1"]})
        http = HttpRequest(allow_private=True, resolve=names.resolve)
        web.redirect("/1", "/2")
        web.redirect("/2", web.url("/3", "b.example"))
        web.answer("/3")
        headers = {"Authorization": "Bearer x", "X-Api-Key": "y", "Accept": "text/html"}
        await run(http, context, web.url("/1", "a.example"), headers=headers)
        first, second, third = (request.headers for request in web.requests)
        assert first["x-api-key"] == second["x-api-key"] == "y"
        assert first["authorization"] == second["authorization"] == "Bearer x"
        assert not {"authorization", "x-api-key"} & third.keys()
        assert third["accept"] == "text/html"

    async def test_cookies_of_one_server_do_not_reach_another_at_the_same_address(
        self, context: ToolContext, web: WebServer
    ) -> None:
        names = Names(**{"a.example": ["127.0.0.1"], "b.example": ["127.0.0.1"]})
        http = HttpRequest(allow_private=True, resolve=names.resolve)
        location = f"Location: {web.url('/2', 'b.example')}\r\n"
        web.answer("/1", status="302 Found", headers=f"Set-Cookie: a=secret\r\n{location}")
        web.answer("/2")
        await run(http, context, web.url("/1", "a.example"))
        assert "cookie" not in web.requests[1].headers

    @pytest.mark.parametrize("location", ["file:///etc/passwd", "gopher://a/"])
    async def test_to_something_else_than_the_web_is_refused(
        self, http: HttpRequest, context: ToolContext, web: WebServer, location: str
    ) -> None:
        web.redirect("/", location)
        with pytest.raises(InvalidInput):
            await run(http, context, web.url())


class TestPrivateAddresses:
    @pytest.mark.parametrize(
        "host",
        [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f.1",
            "0.0.0.0",
            "localhost",
            "10.0.0.1",
            "192.168.0.1",
            "169.254.169.254",
            "[::1]",
            "[::]",
            "[fe80::1]",
            "[::ffff:127.0.0.1]",
            "[64:ff9b::7f00:1]",
            "224.0.0.1",
            "１２７.0.0.1",
        ],
    )
    async def test_they_are_refused_and_never_connected_to(
        self, context: ToolContext, web: WebServer, host: str
    ) -> None:
        web.answer("/", b"secret")
        with pytest.raises((NotAllowed, InvalidInput)):
            await run(HttpRequest(), context, web.url("/", host))
        assert web.requests == []

    @pytest.mark.parametrize("addresses", ["192.168.1.1", "8.8.8.8 127.0.0.1", "127.0.0.1 8.8.8.8"])
    async def test_a_name_that_stands_for_one_is_refused(
        self, context: ToolContext, addresses: str
    ) -> None:
        names = Names(**{"inside.example": [addresses]})
        with pytest.raises(NotAllowed, match=r"inside\.example is not on the public internet"):
            await run(HttpRequest(resolve=names.resolve), context, "http://inside.example/")

    async def test_a_name_is_asked_for_once_and_the_checked_address_is_used(
        self, context: ToolContext, web: WebServer
    ) -> None:
        # A second lookup, to connect, would get 127.0.0.2, where nothing listens.
        names = Names(**{"shop.example": ["127.0.0.1", "127.0.0.2"]})
        http = HttpRequest(resolve=names.resolve, is_public=only("127.0.0.1"))
        web.answer("/", b"welcome")
        result = await run(http, context, web.url("/", "shop.example"))
        assert result.text.endswith("welcome")
        assert names.lookups == ["shop.example"]
        assert web.requests[0].headers["host"] == f"shop.example:{web.port}"

    @pytest.mark.parametrize("location", ["http://127.0.0.2:{port}/", "http://evil.example/"])
    async def test_a_redirect_to_one_is_refused(
        self, context: ToolContext, web: WebServer, location: str
    ) -> None:
        names = Names(**{"evil.example": ["127.0.0.2"]})
        http = HttpRequest(resolve=names.resolve, is_public=only("127.0.0.1"))
        web.redirect("/", location.format(port=web.port))
        with pytest.raises(NotAllowed):
            await run(http, context, web.url())
        assert len(web.requests) == 1

    async def test_a_name_that_changes_between_redirects_is_checked_again(
        self, context: ToolContext, web: WebServer
    ) -> None:
        names = Names(**{"a.example": ["127.0.0.1", "127.0.0.2"]})
        http = HttpRequest(resolve=names.resolve, is_public=only("127.0.0.1"))
        web.redirect("/1", "/2")
        web.answer("/2", b"secret")
        with pytest.raises(NotAllowed):
            await run(http, context, web.url("/1", "a.example"))
        assert names.lookups == ["a.example", "a.example"]


class TestTls:
    async def test_the_certificate_must_be_for_the_name_and_not_for_the_address(
        self,
        context: ToolContext,
        secure_web: WebServer,
        certificate: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        names = Names(**{"shop.example": ["127.0.0.1"], "other.example": ["127.0.0.1"]})
        http = HttpRequest(allow_private=True, resolve=names.resolve)
        secure_web.answer("/", b"welcome")
        good = await run(http, context, f"https://shop.example:{secure_web.port}/")
        assert good.text.endswith("welcome")
        bad = await run(http, context, f"https://other.example:{secure_web.port}/")
        assert bad.is_error
        assert "could not connect to other.example" in bad.text
        assert "certificate" in bad.text

    async def test_an_unknown_certificate_is_refused(
        self, context: ToolContext, secure_web: WebServer
    ) -> None:
        names = Names(**{"shop.example": ["127.0.0.1"]})
        http = HttpRequest(allow_private=True, resolve=names.resolve)
        result = await run(http, context, f"https://shop.example:{secure_web.port}/")
        assert result.is_error
        assert "certificate verify failed" in result.text
        assert secure_web.requests == []


class TestFailures:
    async def test_a_name_without_an_address_is_a_sentence(
        self, http: HttpRequest, context: ToolContext
    ) -> None:
        for host in ("no-such-name.invalid", "a..b", f"{'x' * 64}.example"):
            result = await run(http, context, f"http://{host}/")
            assert result == ToolResult(f"could not find the address of {host}", is_error=True)

    async def test_a_refused_connection_is_a_sentence(
        self, http: HttpRequest, context: ToolContext
    ) -> None:
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            port = closed.getsockname()[1]
            result = await run(http, context, f"http://127.0.0.1:{port}/")
        assert result == ToolResult(
            "could not connect to 127.0.0.1: Connection refused", is_error=True
        )

    async def test_the_next_address_is_tried_when_one_does_not_answer(
        self, context: ToolContext, web: WebServer
    ) -> None:
        names = Names(**{"a.example": ["127.0.0.2 127.0.0.1"]})
        http = HttpRequest(allow_private=True, resolve=names.resolve)
        web.answer("/", b"second")
        assert (await run(http, context, web.url("/", "a.example"))).text.endswith("second")

    async def test_a_server_that_never_answers_is_a_sentence(
        self, http: HttpRequest, context: ToolContext, web: WebServer
    ) -> None:
        web.answers["/"] = []
        result = await run(http, context, web.url(), timeout_seconds=0.3)
        assert result == ToolResult(
            "there was no complete answer within 0.3 seconds", is_error=True
        )

    @pytest.mark.parametrize(
        "answer",
        [
            b"this is not HTTP\r\n\r\n",
            b"HTTP/1.1 302 Found\r\nLocation: http://a:b:c/\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\noops",
            b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000 + b"\r\n\r\n",
        ],
    )
    async def test_a_broken_answer_is_a_sentence(
        self, http: HttpRequest, context: ToolContext, web: WebServer, answer: bytes
    ) -> None:
        web.answers["/"] = [answer]
        result = await run(http, context, web.url())
        assert result.is_error
        assert result.text.startswith("the request failed: ")
        assert len(result.text) > len("the request failed: ") + 5

    async def test_a_cancelled_request_ends(
        self, http: HttpRequest, context: ToolContext, web: WebServer
    ) -> None:
        web.answers["/"] = []
        call = asyncio.create_task(run(http, context, web.url()))
        await eventually(lambda: web.requests, "the request has come")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call


def test_the_http_library_is_only_imported_when_it_is_needed() -> None:
    program = "import sys, navi.live.tools.web.http_request; print('httpx2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == b"False\n"


def only(text: str) -> Any:
    """The test's idea of the public internet: one address."""
    return lambda address: address == ip_address(text)
