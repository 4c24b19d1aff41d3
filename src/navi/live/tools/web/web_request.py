"""An HTTP request, and how redirects change it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from navi.base.errors import InvalidInput
from navi.live.tools.web.public_address import Address

if TYPE_CHECKING:  # slow to import, so imported by the first call
    import httpx2

HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# Set from the URL and the body; callers can't choose other values.
DERIVED_HEADERS = ("host", "content-length", "transfer-encoding", "connection")
# Only these headers follow a redirect to another server; others may hold secrets.
HARMLESS_HEADERS = ("accept", "accept-language", "content-type", "range", "user-agent")


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    url: httpx2.URL
    headers: Mapping[str, str]
    body: bytes

    @property
    def shown_url(self) -> str:
        return str(self.url.copy_with(username=None, password=None))

    def stream_arguments(self, address: Address) -> dict[str, Any]:
        """Arguments for httpx2's `stream`: connects to `address`, but sends the URL's host name."""
        headers = {
            "user-agent": "navi",
            "accept-encoding": "gzip, deflate",  # httpx2 unpacks these in pieces of bounded size
            **{name.lower(): value.encode() for name, value in self.headers.items()},
            "host": self.url.netloc,
        }
        return {
            "method": self.method,
            "url": self.url.copy_with(host=str(address)),
            "headers": headers,
            "content": self.body or None,
            "extensions": {"sni_hostname": self.url.raw_host.decode("ascii")},
        }

    def redirected(self, status: int, location: str) -> Request:
        url = parse_url(location, base=self.url)
        request = replace(self, url=url)
        # As in browsers: 303 turns every request into a GET or HEAD, 301 and 302 only a POST.
        if status == 303 or (status in (301, 302) and self.method == "POST"):
            method = "HEAD" if self.method == "HEAD" else "GET"
            request = replace(request, method=method, body=b"")
        if (url.scheme, url.netloc) != (self.url.scheme, self.url.netloc):
            harmless = {
                name: value
                for name, value in self.headers.items()
                if name.lower() in HARMLESS_HEADERS
            }
            request = replace(request, headers=harmless)
        return request


def parse_url(text: str, base: httpx2.URL | None = None) -> httpx2.URL:
    import httpx2

    try:
        url = httpx2.URL(text) if base is None else base.join(text)
    except (httpx2.InvalidURL, ValueError) as error:
        raise InvalidInput(f"this is not a URL: {error}", hint="use https://host/path") from error
    if url.scheme not in ("http", "https"):
        raise InvalidInput(f"the URL has the scheme {url.scheme!r}", hint="use http or https")
    if not url.host:
        raise InvalidInput("the URL has no host", hint="use https://host/path")
    if url.port is not None and not 0 < url.port < 65536:
        raise InvalidInput(f"there is no port {url.port}", hint="the highest is 65535")
    return url


def require_headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    for name, value in headers.items():
        if not HEADER_NAME.fullmatch(name) or not value.isprintable():
            raise InvalidInput(
                f"{name!r} is not a valid header", hint="names and values are single lines"
            )
        if name.lower() in DERIVED_HEADERS:
            raise InvalidInput(
                f"the header {name} can't be set", hint="leave it out; it is set for you"
            )
    return headers
