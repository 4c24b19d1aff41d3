"""`sm inbox` and `sm answer`, as real commands against a real server."""

from __future__ import annotations

import json
import re
from uuid import uuid4

from tests.acceptance.contract.conftest import finished, receive_until
from tests.acceptance.contract.person import Person
from tests.acceptance.contract.questioning import ASK, NEED, asking
from tests.server import Client


def unique(name: str) -> str:
    return f"{name}-{uuid4().hex}"


def block(text: str, id: str) -> list[str]:
    """The lines about that item in what `sm inbox` prints."""
    lines = text.splitlines()
    [start] = [index for index, line in enumerate(lines) if f" {id}, " in line]
    end = start + 1
    while end < len(lines) and lines[end].startswith("  "):
        end += 1
    return lines[start:end]


async def test_the_inbox_shows_what_is_asked_why_and_what_happens(
    person: Person, client: Client
) -> None:
    name, other = unique("shop"), unique("cleaner")
    _, choice = await asking(client, ASK, name=name)
    _, permission = await asking(client, NEED, name=other)

    result = person.sm("inbox")

    head, reason, *options = block(result.stdout, choice["id"])
    age = r"\d+s ago"
    assert re.fullmatch(f"question {choice['id']}, {age}: {name}: Which database\\?", head)
    assert re.fullmatch(
        r"  asks you to choose; continues without an answer tomorrow at \d\d:\d\d", reason
    )
    assert options == ["  1. SQLite", "  2. PostgreSQL"]
    head, reason = block(result.stdout, permission["id"])
    assert head.endswith(f"{other}: May I call terminal(rm -r build)?")
    assert reason.startswith("  asks for permission, high risk: deletes; denied tomorrow at ")
    assert re.search(r"^`sm answer [0-9a-f]{16} \S+` answers$", result.stderr, re.MULTILINE)


async def test_a_permission_is_allowed_or_denied(person: Person, client: Client) -> None:
    for words, decision, outcome in (
        (["allow"], "allow", "allowed"),
        (["deny"], "deny", "denied"),
        (["deny", "Keep", "it."], "deny", "denied: Keep it."),
    ):
        name = unique("cleaner")
        session_id, question = await asking(client, NEED, name=name)
        printed = person.run("answer", question["id"][:12], *words)
        about = "(May I call terminal(rm -r build)?)"
        assert printed == f"{outcome} {about}; {name} ({session_id}) continues\n"
        closed = await client.call("GET", f"/questions/{question['id']}")
        assert (closed["answer"]["decision"], closed["answered_via"]) == (decision, "sm")
        await finished(client, session_id)


async def test_a_choice_is_a_number_a_label_or_words(person: Person, client: Client) -> None:
    for word, message in (
        ("2", "PostgreSQL"),
        ("sqlite", "SQLite"),
        ("Neither: use a file.", "Neither: use a file."),
        ("1,2", None),
    ):
        name = unique("shop")
        session_id, _ = await asking(client, ASK, name=name)
        if message is None:
            assert "only one option can be chosen" in person.refused("answer", name, word)
            continue
        assert f"{name} ({session_id}) continues" in person.run("answer", name, word)
        await finished(client, session_id, 2)
        answer = (await client.messages(session_id))[-2]["content"]
        assert answer == f'[answer to "Which database?"]\n{message}'


async def test_an_answer_comes_from_standard_input_and_as_json(
    person: Person, client: Client
) -> None:
    name = unique("shop")
    _, question = await asking(client, ASK, name=name)
    closed = json.loads(person.run("answer", name, "-", "--json", typed="a file\nor two\n"))
    assert closed == await client.call("GET", f"/questions/{question['id']}")
    assert closed["answer"]["text"] == "a file\nor two"
    waiting = json.loads(person.run("inbox", "--json"))
    assert waiting == await client.call("GET", "/inbox?tz=UTC")


async def test_a_closed_question_says_who_answered_and_from_where(
    person: Person, client: Client
) -> None:
    name = unique("cleaner")
    _, question = await asking(client, NEED, name=name)
    path = f"/questions/{question['id']}/answer"
    await client.call("POST", path, {"decision": "deny", "text": "Not now.", "via": "page"})
    for word in (name, question["id"]):
        refusal = person.refused("answer", word, "allow")
        assert "was already answered by local, from page, " in refusal
        assert "s ago: denied: Not now." in refusal
        assert "hint: `sm inbox` lists the open questions" in refusal


async def test_what_cannot_be_an_answer_is_refused_in_the_words_of_the_command(
    person: Person, client: Client
) -> None:
    name = unique("cleaner")
    _, question = await asking(client, NEED, name=name)
    own_words = person.refused("answer", name, "perhaps", code=2)
    assert "answered with allow or deny, not 'perhaps'" in own_words
    assert "takes no text" in person.refused("answer", name, "allow", "it", code=2)
    assert "not a JSON object" in person.refused("answer", name, "allow", "--input", "ls", code=2)
    changed = person.refused("answer", name, "allow", "--input", '{"command": "ls"}')
    assert "the input can't be changed here" in changed
    assert "--input" in changed
    assert "updated_input" not in changed
    assert "the answer is missing" in person.refused("answer", name, code=2)
    assert "no question or session" in person.refused("answer", "nobody-at-all", "allow")
    _, silent = person.session()
    assert "has no open question" in person.refused("answer", silent, "allow")
    assert (await client.call("GET", f"/questions/{question['id']}"))["state"] == "open"


async def test_a_session_with_two_questions_needs_an_id(person: Person, client: Client) -> None:
    name = unique("shop")
    session_id, first = await asking(client, ASK, name=name)
    async with client.watch(session_id) as socket:
        await client.say(session_id, "[[ask: And which cache? | Redis | none]]")
        second = (await receive_until(socket, "question_update"))[-1]["question"]
        await receive_until(socket, "session_sync")
    refusal = person.refused("answer", name, "1")
    assert "2 questions are open" in refusal
    assert f"{first['id']} (Which database?)" in refusal
    assert f"{second['id']} (And which cache?)" in refusal
    assert person.run("answer", second["id"], "none").startswith("chose none (And which cache?)")


async def test_an_agent_cannot_answer_snooze_or_settle(person: Person, client: Client) -> None:
    session_id, question = await asking(client, ASK)
    agent = person.agent_of(session_id)
    refusal = agent.refused("answer", question["id"], "1")
    assert refusal.startswith("error: an agent can't answer questions\n")
    assert "an agent can't do this" in agent.refused("inbox", "--settle", f"waiting-{session_id}")
    assert (await client.call("GET", f"/questions/{question['id']}"))["state"] == "open"


async def test_items_are_snoozed_and_settled(person: Person, client: Client) -> None:
    name = unique("broken")
    session_id = await client.session(name=name)
    await client.say(session_id, "[[fail: no connection]]")
    await finished(client, session_id)
    item = f"failure-{session_id}"
    head, reason = block(person.run("inbox"), item)
    assert head.startswith(f"failure {item}, ")
    assert head.endswith(f": {name}")
    assert reason == "  failed: no connection; stays as it is"

    snoozed = person.run("inbox", "--snooze", item, "--until", "2h")
    assert re.fullmatch(r"snoozed until \S+ \S+: " + name + "\n", snoozed)
    assert item not in person.run("inbox")
    assert block(person.run("inbox", "--all"), item)[-1].startswith("  snoozed until ")
    assert person.run("inbox", "--settle", item) == f"settled: {name}\n"
    assert item not in person.run("inbox", "--all")
    gone = person.refused("inbox", "--settle", item)
    assert "`sm inbox` lists the rest" in gone
    assert "belong together" in person.refused("inbox", "--snooze", item, code=2)
    _, question = await asking(client, ASK)
    refusal = person.refused("inbox", "--settle", f"question-{question['id']}")
    assert f"hint: `sm answer {question['id']}` answers it" in refusal


async def test_status_and_watch_say_what_a_waiting_session_asks(
    person: Person, client: Client
) -> None:
    name = unique("shop")
    session_id, _ = await asking(client, ASK, name=name)
    [row] = [line for line in person.run("status").splitlines() if session_id in line]
    assert re.search(r" waiting +\d+s ago +asks: Which database\? ", row)
    with person.start("watch") as watching:
        assert watching.stdout is not None
        expected = f"{name} ({session_id}) | waiting | asks: Which database?\n"
        assert any(line == expected for line in watching.stdout)
        watching.terminate()


async def test_a_shell_offers_the_ids_of_open_questions(person: Person, client: Client) -> None:
    _, question = await asking(client, ASK)

    def offered(*words: str) -> list[str]:
        completing = person.with_environment(
            _SM_COMPLETE="bash_complete",
            COMP_WORDS=" ".join(("sm", *words)),
            COMP_CWORD=str(len(words)),
        )
        return completing.sm().stdout.splitlines()

    assert f"plain,{question['id']}" in offered("answer", "")
    assert offered("answer", question["id"][:12]) == [f"plain,{question['id']}"]
    item = f"question-{question['id']}"
    assert offered("inbox", "--settle", item[:20]) == [f"plain,{item}"]
