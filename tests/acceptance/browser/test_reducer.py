"""The shipped reducer, run in the browser with events of a real server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.acceptance.browser.conftest import OpenTab, in_browser
from tests.acceptance.contract.scenarios import EVENTS, SCENARIOS

pytestmark = in_browser

PLAY = """async ({events, snapshot, cuts}) => {
    const {begin, reduce} = await import("/assets/reducer.js");
    const empty = {session: snapshot.session, messages: [], queue: [], after: 0};
    const view = ({rows, queue, seq, turn, session, hasGap}) => ({
        rows: rows.map(({key, at, metadata, ...row}) => row), queue, seq, turn, session, hasGap,
    });
    const whole = view(reduce(begin(empty), events));
    const pieces = cuts.map((cut) => {
        let conversation = reduce(begin(empty), events.slice(0, cut));
        // A client that comes back may receive events it already has.
        return view(reduce(conversation, events.slice(Math.max(0, cut - 3))));
    });
    const keys = reduce(begin(empty), events).rows.map((row) => row.key);
    return {whole, pieces, transcript: view(begin(snapshot)), keys};
}"""


def recording(name: str) -> dict[str, Any]:
    story: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text())
    return story


@pytest.mark.parametrize("name", SCENARIOS)
async def test_events_and_transcript_tell_the_same_story(open_tab: OpenTab, name: str) -> None:
    tab = await open_tab()
    story = recording(name)
    cuts = list(range(len(story["events"]) + 1))

    views = await tab.page.evaluate(PLAY, {**story, "cuts": cuts})

    assert views["whole"] == views["transcript"]
    assert [piece for piece in views["pieces"] if piece != views["whole"]] == []
    assert len(set(views["keys"])) == len(views["keys"])


async def test_a_missing_event_is_noticed(open_tab: OpenTab) -> None:
    tab = await open_tab()
    story = recording("turn")
    del story["events"][4]
    views = await tab.page.evaluate(PLAY, {**story, "cuts": []})
    assert views["whole"]["hasGap"] is True
    assert views["whole"]["seq"] == 4


async def test_a_turn_that_was_given_back_leaves_nothing_behind(open_tab: OpenTab) -> None:
    """As after a crash before the agent's first output."""
    tab = await open_tab()
    story = recording("turn")
    begun = [e for e in story["events"] if e["seq"] <= 4]
    [queued] = [e for e in begun if e["type"] == "input_queued"]
    end = {**begun[-1], "type": "stream_end", "outcome": "error", "message_id": None, "seq": 5}
    story["events"] = [*begun, {**end, "error": "x"}, {**queued, "seq": 6}]

    views = await tab.page.evaluate(PLAY, {**story, "cuts": []})

    assert views["whole"]["rows"] == []
    assert [each["id"] for each in views["whole"]["queue"]] == [queued["input"]["id"]]


async def test_a_nudge_for_an_agent_at_work_stands_with_the_task(open_tab: OpenTab) -> None:
    tab = await open_tab()
    story = recording("turn")
    plain = await tab.page.evaluate(PLAY, {**story, "cuts": []})
    events = story["events"]
    place = [event["type"] for event in events].index("tool_started") + 1
    [task] = [event for event in events if event["type"] == "input_delivered"]
    nudge = {**task["input"], "id": "nudge", "text": "report", "origin": "reminder"}
    delivered = {**task, "input": nudge}
    events.insert(place, delivered)
    story["events"] = [{**event, "seq": seq} for seq, event in enumerate(events, start=1)]

    views = await tab.page.evaluate(PLAY, {**story, "cuts": list(range(len(events)))})

    first, *rest = plain["whole"]["rows"]
    assert [row.get("text") for row in views["whole"]["rows"][:2]] == [first["text"], "report"]
    assert views["whole"]["rows"][2:] == rest
    assert [piece for piece in views["pieces"] if piece != views["whole"]] == []


async def test_the_queue_is_in_the_order_of_delivery(open_tab: OpenTab) -> None:
    """A recall is queued by its due time, even ahead of messages queued before it."""
    tab = await open_tab()
    story = recording("turn")
    [event] = [e for e in story["events"] if e["type"] == "input_queued"]
    early, due, late = (f"2026-01-01T00:00:0{second}.000Z" for second in (1, 2, 3))
    queue: list[dict[str, Any]] = [
        {"id": "second message", "queued_at": late, "ordinal": 2},
        {"id": "first message", "queued_at": early, "ordinal": 0},
        {"id": "in the same instant", "queued_at": late, "ordinal": 1},
        {"id": "recall", "queued_at": late, "not_before": due, "ordinal": 3},
        {"id": "important", "queued_at": late, "ordinal": 4, "delivery_mode": "important"},
        {"id": "urgent", "queued_at": late, "ordinal": 5, "delivery_mode": "urgent"},
    ]
    story["events"] = [
        {**event, "seq": seq, "input": {**event["input"], **each}}
        for seq, each in enumerate(queue, 1)
    ]

    views = await tab.page.evaluate(PLAY, {**story, "cuts": []})

    assert [each["id"] for each in views["whole"]["queue"]] == [
        "urgent",
        "important",
        "first message",
        "recall",
        "in the same instant",
        "second message",
    ]
