"""Sends a POST request and turns failures into a channel's errors."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from navi.live.runtime.notifications.channel import (
    TIMEOUT_SECONDS,
    ChannelUnavailable,
    MessageRefused,
)

REFUSALS = frozenset({400, 413, 422})
"""Statuses that mean a bad message. All others mean a problem with the channel: its address, token
or server, which a person can fix."""


async def post(url: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> None:
    # Both importing it and loading its certificates are slow.
    import httpx2

    new_client = partial(httpx2.AsyncClient, timeout=TIMEOUT_SECONDS)
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS), await asyncio.to_thread(new_client) as client:
            response = await client.post(url, json=dict(body), headers=dict(headers))
    except TimeoutError as error:
        raise ChannelUnavailable(f"no answer within {TIMEOUT_SECONDS:g} s") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        # The message could quote the address, which may be a secret.
        raise ChannelUnavailable(f"can't reach it: {type(error).__name__}") from error
    if response.status_code in REFUSALS:
        raise MessageRefused(f"refused with status {response.status_code}")
    if not response.is_success:
        raise ChannelUnavailable(f"answered with status {response.status_code}")
