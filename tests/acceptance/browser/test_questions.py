"""What agents ask, on the page: cards with buttons, answers that arrive, and what stays of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.async_api import Locator, Route, expect

from tests.acceptance.browser.conftest import OpenTab, in_browser
from tests.acceptance.browser.planted_questions import every_kind, plant, question
from tests.acceptance.browser.proxy import Proxy
from tests.acceptance.browser.tab import Tab
from tests.acceptance.contract.questioning import ASK, asking
from tests.server import Client, ServerProcess

pytestmark = in_browser

WIDTHS = [1280, 390]
NEED = '[[need: terminal | {"command": "echo hi"}]] [[say: done with it]]'


def cards(tab: Tab) -> Locator:
    return tab.page.get_by_role("region", name="Open questions").get_by_role("article")


@pytest.mark.parametrize("width", WIDTHS)
async def test_a_permission_shows_what_it_is_about_and_is_given_with_one_press(
    open_tab: OpenTab, client: Client, width: int
) -> None:
    session_id, _ = await asking(client, NEED)
    tab, other = await open_tab(width=width), await open_tab()
    await tab.session(session_id)
    await other.session(session_id)
    card = cards(tab)
    await expect(card).to_contain_text("May I call terminal(echo hi)?")
    await expect(card.get_by_role("region", name="Command")).to_have_text("echo hi")
    await expect(card).to_contain_text("risk")
    await expect(card).to_contain_text("Denied on")
    await expect(tab.conversation).to_contain_text("waiting for you")
    assert await tab.page.evaluate("document.documentElement.scrollWidth") <= width

    await card.get_by_role("button", name="Allow", exact=True).click()

    for each in (tab, other):
        await expect(cards(each)).to_have_count(0)
        await expect(each.conversation).to_contain_text("Allowed by you, on the page")
        await expect(each.conversation).to_contain_text("done with it")
    await tab.page.reload()
    await expect(tab.conversation).to_contain_text("Allowed by you, on the page")


async def test_a_denial_can_say_why(open_tab: OpenTab, client: Client) -> None:
    session_id, question = await asking(client, NEED)
    tab = await open_tab()
    await tab.session(session_id)
    await tab.button("Say why…").click()
    await tab.page.get_by_label("Message to the agent").fill("use printf")
    await tab.button("Deny with this message").click()

    await expect(tab.conversation).to_contain_text("Denied by you, on the page: “use printf”")
    answered = await client.call("GET", f"/questions/{question['id']}")
    assert (answered["answer"]["decision"], answered["answer"]["text"]) == ("deny", "use printf")
    assert answered["answered_via"] == "page"


@pytest.mark.parametrize("width", WIDTHS)
async def test_a_choice_is_one_press_and_stands_in_the_conversation_as_an_answer(
    open_tab: OpenTab, client: Client, width: int
) -> None:
    session_id, _ = await asking(client, ASK)
    tab = await open_tab(width=width)
    await tab.session(session_id)
    await cards(tab).get_by_role("button", name="PostgreSQL").click()

    await expect(tab.conversation).to_contain_text("good choice")
    answer = tab.conversation.get_by_role("article").filter(has_text="PostgreSQL").last
    await expect(answer).to_contain_text("Answered by you, on the page")
    await expect(answer).to_contain_text("Which database?")
    assert "[answer to" not in await tab.text()


async def test_a_choice_can_be_answered_in_ones_own_words(
    open_tab: OpenTab, client: Client
) -> None:
    session_id, _ = await asking(client, ASK)
    tab = await open_tab()
    await tab.session(session_id)
    await tab.page.get_by_label("Another answer").fill("neither: a file")
    await tab.page.keyboard.press("Enter")
    await expect(tab.conversation).to_contain_text("neither: a file")
    await expect(tab.conversation).to_contain_text("good choice")


async def test_an_answer_that_came_too_late_shows_who_was_first(
    open_tab: OpenTab, client: Client
) -> None:
    session_id, question = await asking(client, NEED)
    tab = await open_tab()
    tab.expected.append("409")
    await tab.session(session_id)

    async def overtaken(route: Route) -> None:
        path = f"/questions/{question['id']}/answer"
        await client.call("POST", path, {"decision": "deny", "via": "sm"})
        await route.continue_()

    await tab.page.route("**/questions/*/answer", overtaken)
    await tab.button("Allow").click()

    await expect(tab.page.get_by_role("alert")).to_contain_text(
        "already answered by local, from sm"
    )
    await expect(cards(tab)).to_contain_text("Denied by you, with sm")
    await tab.button("Dismiss").click()
    await expect(cards(tab)).to_have_count(0)


async def test_an_answer_given_elsewhere_closes_the_card(open_tab: OpenTab, client: Client) -> None:
    session_id, question = await asking(client, NEED)
    tab = await open_tab()
    await tab.session(session_id)
    await expect(cards(tab)).to_have_count(1)
    answer = {"decision": "allow", "via": "sm"}
    await client.call("POST", f"/questions/{question['id']}/answer", answer)
    await expect(cards(tab)).to_have_count(0)
    await expect(tab.conversation).to_contain_text("Allowed by you, with sm")


async def test_a_question_that_was_closed_while_the_connection_was_lost_is_no_longer_shown(
    open_tab: OpenTab, own_server: ServerProcess
) -> None:
    async with Proxy(own_server) as proxy, own_server.client() as client:
        session_id, question = await asking(client, NEED)
        tab = await open_tab(on=proxy)
        tab.expected += ["WebSocket", "ERR_", "Failed to load resource"]
        await tab.session(session_id)
        await expect(cards(tab)).to_have_count(1)
        proxy.cut()
        answer = {"decision": "deny", "via": "sm"}
        await client.call("POST", f"/questions/{question['id']}/answer", answer)
        proxy.mend()
        await expect(cards(tab)).to_have_count(0)
        await expect(tab.conversation).to_contain_text("Denied by you, with sm")


async def test_a_withdrawn_question_stays_readable(open_tab: OpenTab, client: Client) -> None:
    session_id, _ = await asking(client, NEED)
    tab = await open_tab()
    await tab.session(session_id)
    await tab.button("Stop").click()
    await expect(cards(tab)).to_have_count(0)
    await expect(tab.conversation).to_contain_text("Withdrawn: the answer is no longer needed")


async def test_every_kind_of_question_has_its_buttons(open_tab: OpenTab, client: Client) -> None:
    session_id = await client.session(name="curious")
    tab = await open_tab()
    answers = await plant(tab, *every_kind(session_id))
    await tab.session(session_id)
    card = {
        name: cards(tab).filter(has_text=words)
        for name, words in {
            "bash": "May I call Bash?",
            "edit": "May I call Edit?",
            "several": "Which databases?",
            "plan": "May I do this?",
            "text": "What is the name of the branch?",
        }.items()
    }
    await expect(card["bash"]).to_contain_text("+ Bash(npm test:*)")
    await expect(card["bash"]).not_to_contain_text("acceptEdits")
    await expect(card["bash"]).to_contain_text("Denied on 1 Jan 2100")
    await expect(card["edit"].locator(".removed")).to_have_text("-    return sum(cart)")
    await expect(card["edit"].locator(".added")).to_have_text("+    return round(sum(cart), 2)")
    await expect(card["edit"].get_by_role("button", name="Always allow")).to_have_count(0)
    await expect(card["plan"].locator("strong")).to_have_text("everything")

    await card["bash"].get_by_role("button", name="Edit input…").click()
    await card["bash"].get_by_label("command").fill("npm run test:fast")
    await card["bash"].get_by_role("button", name="Allow with changes").click()
    await expect(card["bash"]).to_have_count(0)
    await card["edit"].get_by_role("button", name="Deny", exact=True).click()
    await expect(card["edit"]).to_have_count(0)
    await card["several"].get_by_label("SQLite").check()
    await card["several"].get_by_label("PostgreSQL").check()
    await card["several"].get_by_role("button", name="Send").click()
    await expect(card["several"]).to_have_count(0)
    await card["plan"].get_by_role("button", name="Say why…").click()
    await card["plan"].get_by_label("Message to the agent").fill("smaller steps")
    await card["plan"].get_by_role("button", name="Reject with this message").click()
    await expect(card["plan"]).to_have_count(0)
    await card["text"].get_by_label("Your answer").fill("main")
    await card["text"].get_by_role("button", name="Send").click()
    await expect(cards(tab)).to_have_count(0)

    assert [{**each, "via": "page"} for each in answers] == answers
    assert [{name: each[name] for name in each if name != "via"} for each in answers] == [
        {"decision": "allow", "updated_input": {"command": "npm run test:fast"}},
        {"decision": "deny"},
        {"decision": "choose", "choices": ["SQLite", "PostgreSQL"]},
        {"decision": "deny", "text": "smaller steps"},
        {"decision": "reply", "text": "main"},
    ]


async def test_always_allow_is_an_answer_of_its_own(open_tab: OpenTab, client: Client) -> None:
    session_id = await client.session(name="trusting")
    tab = await open_tab()
    answers = await plant(tab, every_kind(session_id)[0])
    await tab.session(session_id)
    await tab.button("Always allow").click()
    await expect(cards(tab)).to_have_count(0)
    assert answers == [{"decision": "allow_always", "via": "page"}]


PLACED = """async ({rows, questions}) => {
    const {withQuestions} = await import("/assets/question.js");
    return withQuestions(rows, questions).map((row) => row.isAsking ? row.key + " asks" : row.key);
}"""
MERGED = """async (news) => {
    const {merge, openQuestions} = await import("/assets/question.js");
    const all = news.reduce((all, each) => merge(all, [each]), new Map());
    return openQuestions(all).map((each) => each.id);
}"""
PARTS = """async (input) => {
    const {inputParts} = await import("/assets/question.js");
    return inputParts(input).map(({kind, label, text, lines}) =>
        [kind, label, text ?? lines.map((line) => line.sign + line.text)]);
}"""


async def test_closed_questions_stand_where_they_were_asked(open_tab: OpenTab) -> None:
    tab = await open_tab()

    def at(minute: int) -> str:
        return f"2026-11-18T12:{minute:02}:00.000Z"

    def row(kind: str, key: str, **fields: Any) -> dict[str, Any]:
        return {"kind": kind, "key": key, "metadata": {}, **fields}

    rows = [
        row("input", "first", at=at(10)),
        row("tool", "call", callId="call-allowed"),
        row("tool", "waiting", callId="call-open"),
        row("input", "answer", at=at(20), metadata={"question_id": "by input"}),
        row("text", "end", at=at(30)),
    ]
    closed = {"state": "answered", "answer": {"decision": "allow"}}
    questions = [
        question("s", "allowed", **closed, answered_at=at(11)),
        question("s", "open"),
        question("s", "by input", **closed, answered_at=at(20)),
        question("s", "in a terminal", **closed, answered_at=at(15)),
        question("s", "later", **closed, answered_at=at(40)),
        question("s", "further up", **closed, answered_at=at(5)),
    ]

    placed = await tab.page.evaluate(PLACED, {"rows": rows, "questions": questions})

    assert placed == [
        "first",
        "question.allowed",
        "call",
        "waiting asks",
        "question.in a terminal",
        "answer",
        "end",
        "question.later",
    ]


async def test_a_closed_question_is_not_opened_by_old_news(open_tab: OpenTab) -> None:
    tab = await open_tab()
    news = [
        question("s", "a", state="answered"),
        question("s", "a"),
        question("s", "old", created_at="2026-11-18T09:00:00.000Z"),
        question("s", "urgent", deadline_at="2026-11-18T15:00:00.000Z"),
        question("s", "new"),
    ]
    assert await tab.page.evaluate(MERGED, news) == ["urgent", "old", "new"]


@pytest.mark.parametrize(
    ("tool_input", "parts"),
    [
        ({"command": ["git", "push"]}, [["command", "Command", "git push"]]),
        (
            {"file_path": "a.py", "content": "one\ntwo\n"},
            [["diff", "a.py", ["+one", "+two"]]],
        ),
        (
            {"patch": "*** Begin Patch\n--- a\n+++ b\n-old\n+new"},
            [["diff", "patch", [" *** Begin Patch", " --- a", " +++ b", "-old", "+new"]]],
        ),
        (
            {"url": "https://example.org", "options": {"deep": True}},
            [["text", "url", "https://example.org"], ["text", "options", '{\n  "deep": true\n}']],
        ),
        ({}, []),
    ],
)
async def test_an_input_is_readable(
    open_tab: OpenTab, tool_input: dict[str, Any], parts: list[Any]
) -> None:
    tab = await open_tab()
    assert await tab.page.evaluate(PARTS, tool_input) == parts, json.dumps(tool_input)
