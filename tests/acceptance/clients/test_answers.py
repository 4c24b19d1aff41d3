"""What real agents ask, answered from each place where a person may be."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.acceptance.browser.chromium import chromium
from tests.acceptance.browser.tab import Tab
from tests.acceptance.clients.asking import ASKING, COLOUR, RUN, choose, open_questions, runs
from tests.acceptance.clients.conftest import DRIVERS, World, outcomes, text_of
from tests.acceptance.clients.world import TOOL
from tests.acceptance.contract.conftest import finished
from tests.acceptance.contract.person import Person
from tests.phone import Phone, ringing_phone
from tests.server import Client
from tests.waiting import eventually

pytestmark = pytest.mark.proof

PLACES = ["sm", "page", "notification"]
PUBLIC = "https://navi.example.com"


@pytest.fixture
def phone() -> Iterator[Phone]:
    with ringing_phone() as phone:
        yield phone


def settings(phone: Phone) -> dict[str, str]:
    return {
        "NAVI_NOTIFICATIONS_NTFY": f"{phone.address}/topic",
        "NAVI_NOTIFICATIONS_PUBLIC_URL": PUBLIC,
        "NAVI_NOTIFICATIONS_ACTIVE_MINUTES": "0",
    }


@pytest.mark.parametrize("place", PLACES)
async def test_a_permission_is_given_from_everywhere(
    world: World, phone: Phone, place: str
) -> None:
    world.serve(**ASKING, **settings(phone))
    async with world.client() as client:
        session_id = await world.session(client, "claude_code")
        await client.say(session_id, RUN)
        [question] = await open_questions(client, session_id)
        await answer(world, phone, place, question, "Allow")

        assert outcomes(await finished(client, session_id)) == ["ok"]
        assert runs(world) == 1
        await is_answered_from(client, question, place, "allow")


@pytest.mark.parametrize("place", PLACES)
async def test_a_choice_is_made_from_everywhere(world: World, phone: Phone, place: str) -> None:
    world.serve(**settings(phone))
    async with world.client() as client:
        session_id = await world.session(client, "claude_code")
        await client.say(session_id, choose(COLOUR))
        [question] = await open_questions(client, session_id)
        await answer(world, phone, place, question, "Blue")

        frames = await finished(client, session_id)
        [call, *_] = [frame for frame in frames if frame["type"] == "tool_call"]
        assert '"Which colour?"="Blue"' in call["result"]
        await is_answered_from(client, question, place, "choose")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("agent", DRIVERS)
async def test_a_question_that_ends_the_turn_is_answered_from_everywhere(
    world: World, phone: Phone, agent: str, place: str
) -> None:
    world.serve(**settings(phone))
    arguments = json.dumps({"question": "Which colour?", "options": ["Red", "Blue"]})
    async with world.client() as client:
        session_id = await world.session(client, agent)
        call = f"[[tool: {TOOL[agent].format('ask_person')} | {arguments}]]"
        await client.say(session_id, f"{call} [[say: I wait]]")
        await finished(client, session_id)
        [question] = await open_questions(client, session_id)
        await answer(world, phone, place, question, "Blue")

        frames = await finished(client, session_id, 2)
        assert outcomes(frames) == ["ok", "ok"]
        assert text_of(frames) == 'I waitok: [answer to "Which colour?"] Blue'
        await is_answered_from(client, question, place, "choose")


async def answer(
    world: World, phone: Phone, place: str, question: dict[str, Any], button: str
) -> None:
    """Answer as the person would there: with this button, or this word."""
    match place:
        case "sm":
            await asyncio.to_thread(
                Person(world.server).run, "answer", question["id"], button.lower()
            )
        case "page":
            async with chromium(world.home) as browser:
                tab = await Tab.open(browser, world.server, "#/inbox", 390)
                card = tab.page.locator('[data-need="question"]')
                await card.get_by_role("button", name=button).first.click()
                await card.wait_for(state="detached")
                await tab.close()
        case "notification":
            await eventually(lambda: notification_of(phone, question))
            await press(world, notification_of(phone, question), button)


def notification_of(phone: Phone, question: dict[str, Any]) -> dict[str, Any]:
    return next((each for each in phone.requests if question["title"] in each["message"]), {})


async def press(world: World, notification: dict[str, Any], button: str) -> None:
    """Press a button of ntfy; or open the link, and press the button there."""
    async with httpx2.AsyncClient(trust_env=False) as http:
        actions = {each["label"]: each for each in notification.get("actions", [])}
        action = actions.get(button)
        if action is not None:
            url = action["url"].replace(PUBLIC, world.server.address)
            response = await http.request(
                action["method"], url, content=action["body"], headers=action["headers"]
            )
        else:
            url = notification["click"].replace(PUBLIC, world.server.address)
            form = {"decision": "choose", "choices": button}
            response = await http.post(url, data=form, headers={"Origin": world.server.address})
        assert response.status_code == 200, response.text


async def is_answered_from(
    client: Client, question: dict[str, Any], place: str, decision: str
) -> None:
    closed = await client.call("GET", f"/questions/{question['id']}")
    assert (closed["answered_via"], closed["answer"]["decision"]) == (place, decision)
