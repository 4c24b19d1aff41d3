"""A server that is killed while it notifies a person: they hear of it, and once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.acceptance.flows.conftest import Serve
from tests.acceptance.flows.moved_clock import WITH_MOVED_CLOCK, move_clock
from tests.phone import Phone, ringing_phone
from tests.server import Client, ServerProcess
from tests.waiting import eventually

# Three starts of a server for each store.
pytestmark = pytest.mark.proof

ASK = "[[ask: Which database? | SQLite | PostgreSQL]]"
MINUTE, HOUR = 60.0, 3600.0


@pytest.mark.parametrize("database_url", ["sqlite", "postgresql"], indirect=True)
async def test_a_server_killed_while_it_sends_is_followed_by_one_that_sends_under_the_same_key(
    serve: Serve, database_url: str | None
) -> None:
    with ringing_phone() as phone:
        settings = {
            "NAVI_NOTIFICATIONS_WEBHOOK": phone.address,
            "NAVI_NOTIFICATIONS_ACTIVE_MINUTES": "0",
        }
        server = serve(database_url, settings=settings, command=WITH_MOVED_CLOCK)
        phone.answers.clear()
        async with server.client() as client:
            await client.say(await client.session(name="asking"), ASK)
        await eventually(lambda: phone.requests)
        # It has arrived, but the server will never know.
        server.kill()
        phone.answers.set()

        move_clock(server, HOUR)
        server.start()
        await eventually(lambda: len(phone.requests) == 2)
        async with server.client() as client:

            async def is_recorded() -> bool:
                (row,) = await client.call("GET", "/notifications")
                return bool(row["state"] == "sent")

            await eventually(is_recorded)
        assert phone.titles == ["asking asks"]

        server.kill()
        move_clock(server, 2 * HOUR)
        server.start()
        async with server.client() as client:
            # Sent after whatever else the server might have sent.
            await client.call("POST", "/notifications/test", {})
        assert phone.titles == ["asking asks", "Navi can reach you"]


@pytest.mark.parametrize("database_url", ["sqlite", "postgresql"], indirect=True)
async def test_a_night_of_kills_an_outage_and_quiet_hours_brings_each_once_by_importance(
    serve: Serve, database_url: str | None
) -> None:
    """The channel is down for an hour, and quiet hours begin an hour later."""
    began_at = datetime.now(UTC)
    with ringing_phone() as phone:
        phone.status = 503
        settings = {
            "NAVI_NOTIFICATIONS_WEBHOOK": phone.address,
            "NAVI_NOTIFICATIONS_ACTIVE_MINUTES": "0",
            "NAVI_NOTIFICATIONS_QUIET_FROM": clock_time(began_at, 2 * HOUR),
            "NAVI_NOTIFICATIONS_QUIET_UNTIL": clock_time(began_at, 4 * HOUR),
            "NAVI_RECALLS_TIMEZONE": "UTC",
        }
        server = serve(database_url, settings=settings, command=WITH_MOVED_CLOCK)
        async with server.client() as client:
            for name, text in {"done": "[[say: ready]]", "broken": "[[fail: no]]"}.items():
                await client.say(await client.session(name=name), text)
            # One after the other: of two equally important ones, the older comes first.
            await client.say(await client.session(name="first"), ASK)
            await eventually(lambda: rows_in(client, "waiting", 3))
            await client.say(await client.session(name="second"), ASK)
            await eventually(lambda: rows_in(client, "waiting", 4))
        for minutes in (1, 20, 40, 59):
            phone.requests.clear()
            await restart(server, minutes * MINUTE)
            await eventually(lambda: phone.requests)
            assert phone.taken == []

        phone.status = 200
        phone.answers.clear()
        await restart(server, 61 * MINUTE)
        await eventually(lambda: phone.taken)
        # The first one has arrived, but the server will never know.
        server.kill()
        phone.answers.set()
        await restart(server, 65 * MINUTE)
        async with server.client() as client:
            await eventually(lambda: rows_in(client, "sent", 4))
        assert phone.titles == ["first asks", "second asks", "broken failed", "done finished"]
        assert taken_requests(phone) == 5

        move_clock(server, 2.5 * HOUR)
        async with server.client() as client:
            await client.say(await client.session(name="later"), "[[fail: no disk]]")
            await client.say(await client.session(name="third"), ASK)
            await eventually(lambda: rows_in(client, "waiting", 2))
        await restart(server, 3.5 * HOUR)
        async with server.client() as client:
            await eventually(lambda: rows_in(client, "waiting", 2, reason="quiet hours"))
        assert taken_requests(phone) == 5
        await restart(server, 4 * HOUR + 2 * MINUTE)
        async with server.client() as client:
            await eventually(lambda: rows_in(client, "in_digest", 2))
            await eventually(lambda: rows_in(client, "sent", 5))
        assert taken_requests(phone) == 6
        digest = phone.taken[-1]
        assert digest["title"] == "2 things happened during your quiet hours"
        assert [line[:5] for line in digest["text"].splitlines()] == ["third", "later"]


def clock_time(began_at: datetime, seconds: float) -> str:
    return f"{began_at + timedelta(seconds=seconds):%H:%M}"


async def restart(server: ServerProcess, moved: float) -> None:
    """Kill the server, and start it at another time."""
    server.kill()
    move_clock(server, moved)
    server.start()


async def rows_in(client: Client, state: str, count: int, **fields: Any) -> bool:
    """Whether there are so many notifications in this state."""
    rows: list[dict[str, Any]] = await client.call("GET", "/notifications")
    expected = {"state": state, **fields}
    return sum(expected.items() <= row.items() for row in rows) == count


def taken_requests(phone: Phone) -> int:
    """How many requests were taken, with those that were sent again."""
    return sum(each["status"] == 200 for each in phone.requests)
