from __future__ import annotations

from collections.abc import Sequence

import pytest
from starlette.requests import Request
from starlette.types import Message

from navi.base.errors import TooLarge
from navi.live.api import request_bodies


def request(messages: Sequence[Message]) -> Request:
    left = iter(messages)

    async def receive() -> Message:
        return next(left)

    return Request({"type": "http", "method": "POST", "headers": []}, receive)


def part(body: bytes) -> Message:
    return {"type": "http.request", "body": body, "more_body": True}


async def test_a_body_is_read_no_further_than_it_may_be_long() -> None:
    half = part(b"x" * (request_bodies.BODY_LIMIT_BYTES // 2 + 1))
    with pytest.raises(TooLarge):
        await request_bodies.read_bytes(request([half, half]))


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"x": -1e999}'])
def test_a_number_that_is_not_finite_is_not_json(text: str) -> None:
    with pytest.raises(ValueError, match="finite"):
        request_bodies.parse_json(text)
