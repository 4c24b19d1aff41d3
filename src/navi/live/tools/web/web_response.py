"""An HTTP response as the agent reads it."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from navi.live.model.tool import ToolResult
from navi.live.tools.files.decoded_text import decode, describe_binary, is_binary, one_line

if TYPE_CHECKING:
    import httpx2

SHOWN_HEADERS = (
    "content-type",
    "content-length",
    "location",
    "last-modified",
    "etag",
    "retry-after",
    "www-authenticate",
    "link",
)
HEADER_LIMIT_CHARACTERS = 500
# Python also has codecs that are not character sets, some of them slow or unsafe.
CHARACTER_SETS = re.compile(
    r"utf-(8|16|32)(-[bl]e)?|ascii|(iso8859|cp|koi8|gb|big5|euc|shift_jis|mac).*"
)


async def describe(response: httpx2.Response, url: str, limit: int) -> ToolResult:
    """The status, a few headers and at most `limit` bytes of the body."""
    lines = [f"{response.http_version} {response.status_code} {response.reason_phrase}".strip()]
    lines.append(f"url: {url}")
    for name in SHOWN_HEADERS:
        if name in response.headers:
            lines.append(f"{name}: {one_line(response.headers[name])[:HEADER_LIMIT_CHARACTERS]}")
    body, is_whole = await _read(response, limit)
    text = "\n".join(lines)
    if body:
        text += f"\n\n{_body_text(body, response.charset_encoding, is_whole)}"
    return ToolResult(text, is_error=response.status_code >= 400)


async def _read(response: httpx2.Response, limit: int) -> tuple[bytes, bool]:
    body = b""
    async for piece in response.aiter_bytes():
        body += piece[: limit + 1 - len(body)]
        if len(body) > limit:
            return body[:limit], False
    return body, True


def _body_text(body: bytes, charset: str | None, is_whole: bool) -> str:
    charset = _character_set(charset)
    if is_binary(body, charset):
        size = f"{len(body):,} bytes" if is_whole else f"more than {len(body):,} bytes"
        return f"(a binary body of {size}, not shown; {describe_binary(body)})"
    text = decode(body, charset, is_whole=is_whole)
    if is_whole:
        return text
    return f"{text}\n[cut after {len(body):,} bytes; a Range header can ask for the rest]"


def _character_set(name: str | None) -> str:
    try:
        codec = codecs.lookup(name or "utf-8").name
    except (LookupError, ValueError):
        return "utf-8"
    return codec if CHARACTER_SETS.fullmatch(codec) else "utf-8"
