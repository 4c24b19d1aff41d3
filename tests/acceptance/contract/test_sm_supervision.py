"""`sm` for supervisors and agents, as a real command against a real server."""

from __future__ import annotations

import json
import re
import signal
import time

import pytest

from tests.acceptance.contract.conftest import finished
from tests.acceptance.contract.person import Person
from tests.acceptance.contract.questioning import NEED, asking
from tests.server import Client
from tests.waiting import eventually

LONG = "[[sleep: 600]]"


@pytest.fixture
def lead(person: Person) -> tuple[Person, str, str]:
    """An agent, the id of its session, and the name."""
    session_id, name = person.session()
    return person.agent_of(session_id), session_id, name


# Three tests named in the original design of reminders.


def test_sm_children_shows_status(person: Person, lead: tuple[Person, str, str]) -> None:
    agent, lead_id, _ = lead
    assert agent.sm("children").stderr == "no children\n"
    child_id, child = person.session(parent_id=lead_id)
    silent_id, silent = person.session(parent_id=child_id)
    person.agent_of(child_id).run("status", "making progress")

    (line,) = agent.run("children").splitlines()
    assert re.fullmatch(
        re.escape(f'{child} ({child_id}) | idle | "making progress" (') + r"\d+s ago\)", line
    )
    lines = agent.run("children", "--recursive").splitlines()
    assert f"{silent} ({silent_id}) | idle | (no status)" in lines
    listed = json.loads(person.run("children", lead_id, "--recursive", "--json"))
    assert {each["id"] for each in listed} == {child_id, silent_id}


def test_sm_status_no_arg_unchanged(person: Person, lead: tuple[Person, str, str]) -> None:
    agent, lead_id, name = lead
    agent.run("status", "busy", "with it")
    for somebody in (person, agent):
        (line,) = [each for each in somebody.run("status").splitlines() if lead_id in each]
        assert re.match(re.escape(name) + r" +idle +\d+s ago +\"busy with it\" \(", line)


def test_sm_remind_tells_delays_from_sessions(
    person: Person, lead: tuple[Person, str, str]
) -> None:
    agent, lead_id, name = lead
    assert re.match(r"reminder [0-9a-f]{16} is due in 1 min, ", agent.run("remind", "60", "in"))
    assert " is due in " in person.run("remind", "1h", "check", "in", "--to", name)
    person.navi.remind(lead_id, 60)
    assert person.run("remind", lead_id, "--stop") == f"{name} ({lead_id}) is no longer reminded\n"
    assert "is not being reminded" in person.refused("remind", name, "--stop")
    # With --stop, digits are an id.
    assert "there is no session '12345678'" in person.refused("remind", "12345678", "--stop")
    assert "'abc1def2' is not a delay" in agent.refused("remind", "abc1def2", "x", code=2)
    assert "NAVI_SESSION_ID is not set" in person.refused("remind", "60", "x", code=2)
    assert "the message is missing" in agent.refused("remind", "60", code=2)
    assert "is not possible" in agent.refused("remind", "0", "now")


# Messages.


async def test_a_message_names_its_sender_to_the_receiver(
    person: Person, lead: tuple[Person, str, str], client: Client
) -> None:
    agent, lead_id, name = lead
    session_id, other = person.session()
    assert agent.run("send", other, "build", "it") == f"delivered to {other} ({session_id})\n"
    await finished(client, session_id)
    message, answer = await client.messages(session_id)
    assert message["content"] == "build it"
    assert message["metadata"]["sender"] == {"id": lead_id, "name": name, "title": name}
    assert answer["content"] == f"ok: [message from {name} ({lead_id})]\nbuild it"


async def test_messages_that_wait_reach_the_agent_in_one_turn(
    person: Person, lead: tuple[Person, str, str], client: Client
) -> None:
    agent, _, _ = lead
    session_id, name = person.session()
    person.run("send", name, LONG)
    assert agent.run("send", name, "one") == f"queued for {name} ({session_id})\n"
    assert agent.run("send", name, "two").endswith(", 1 ahead of it\n")
    admitted = json.loads(agent.run("send", name, "now", "--important", "--json"))
    assert (admitted["status"], admitted["position"]) == ("queued", 0)
    table = person.run("queue", name).splitlines()
    assert table[0].split() == ["ID", "MODE", "FROM", "SINCE", "TEXT"]
    assert [line.split()[1] for line in table[1:]] == ["important", "sequential", "sequential"]
    assert person.run("queue", name, "--remove", admitted["input_id"]) == "removed: now\n"
    person.navi.stop(session_id)
    await finished(client, session_id, 2)
    texts = [each["content"] for each in await client.messages(session_id)]
    assert texts[2:4] == ["one", "two"]
    assert len(texts) == 5
    assert person.sm("queue", name).stderr.endswith(" is empty\n")


def test_a_text_comes_from_standard_input(person: Person) -> None:
    _, name = person.session()
    text = '"quoted" \\ $HOME\n- and a second line; üñí 🎈'
    output = person.run("send", name, "-", "--wait", "60", typed=f"{text}\n")
    assert output == f"ok: {text}\n"


def test_waiting_returns_the_answer_or_the_reason_why_there_is_none(person: Person) -> None:
    session_id, name = person.session()
    assert person.run("send", name, "[[say: it is done]]", "--wait", "60") == "it is done\n"
    failed = person.refused("send", name, "[[fail: out of paper]]", "--wait", "60")
    assert failed.count("out of paper") == 1
    assert f"{name} ({session_id}) failed: out of paper" in failed
    late = person.refused("send", name, LONG, "--wait", "0")
    assert "did not answer within 0 seconds; the message is running" in late
    assert "is still running after 0 seconds" in person.refused("wait", name, "0")
    person.navi.stop(session_id)
    assert person.run("wait", name, "30") == f"{name} ({session_id}) is idle\n"


def test_the_answer_is_awaited_without_a_duration_too(person: Person) -> None:
    _, name = person.session()
    assert person.run("send", name, "[[say: it is done]]", "--wait") == "it is done\n"


async def test_who_waits_for_an_agent_that_asks_sees_the_question(
    client: Client, person: Person
) -> None:
    session_id, question = await asking(client, NEED)
    answering = f"`sm answer {question['id']} allow"
    for command in (["send", session_id, "and then?", "--wait", "0"], ["wait", session_id, "0"]):
        late = person.refused(*command)
        assert f"asks: {question['title']}" in late
        assert answering in late


async def test_the_sender_is_notified_where_it_asked_for_it(
    person: Person, lead: tuple[Person, str, str], client: Client
) -> None:
    agent, lead_id, _ = lead
    session_id, name = person.session()
    agent.run("send", name, "[[say: built]]", "--notify-on-delivery", "--notify-on-stop")
    await finished(client, lead_id, 2)
    prompts = [each["content"] for each in await client.messages(lead_id) if each["role"] == "user"]
    assert prompts == [
        f'[sm] {name} ({session_id}) received your message: "[[say: built]]"',
        f'[sm] {name} ({session_id}) has stopped after your message: "[[say: built]]"\n'
        "Its last message:\nbuilt",
    ]
    refused = person.refused("send", name, "x", "--notify-on-delivery", code=2)
    assert "only an agent can be notified of the delivery" in refused


async def test_a_person_can_ask_for_the_end_of_a_childs_turn(
    person: Person, lead: tuple[Person, str, str], client: Client
) -> None:
    _, lead_id, _ = lead
    child = await client.session(parent_id=lead_id)
    await client.say(child, "[[say: one]]", sender_session_id=lead_id)
    await finished(client, child)
    assert (await client.call("GET", f"/sessions/{child}"))["attention"] is None

    person.run("send", child, "[[say: two]]", "--notify-on-stop")

    await finished(client, child, 2)
    assert (await client.call("GET", f"/sessions/{child}"))["attention"] == "finished"


def test_a_message_can_ask_for_reminders(person: Person) -> None:
    session_id, name = person.session()
    lines = person.run("send", name, LONG, "--remind", "1m").splitlines()
    assert re.match(r"reminder: asks for its status in 1 min, 2\d{3}-", lines[1])
    assert lines[1].endswith("; interrupts 2 min later")
    registered = json.loads(person.run("remind", name, "--stop", "--json"))
    assert (registered["soft_threshold"], registered["hard_threshold"]) == (60, 180)
    person.navi.stop(session_id)
    person.navi.wait(session_id, 30)
    person.run("send", name, LONG, "--remind")
    registered = json.loads(person.run("remind", name, "--stop", "--json"))
    assert (registered["soft_threshold"], registered["hard_threshold"]) == (180, 300)
    lines = person.run("send", name, "later", "--remind", "90").splitlines()
    assert lines[1] == (
        "reminder: asks for its status 1 min 30 s after delivery; interrupts 2 min later"
    )
    for wrong in ("0", "1.5s", "soon", "-5", "-5m"):
        refused = person.refused("send", name, "x", "--remind", wrong, code=2)
        assert "is not a duration" in refused


def test_reminders_are_listed_and_one_off_ones_cancelled(person: Person) -> None:
    session_id, name = person.session()
    assert person.sm("remind", "--list", name).stderr == "no reminders\n"
    made = json.loads(person.run("remind", "1h", "the build", "--to", name, "--json"))
    person.navi.remind(session_id, 60)

    head, periodic, once = person.run("remind", "--list", name).splitlines()
    assert head.split() == ["ID", "SESSION", "KIND", "NEXT", "TEXT"]
    assert f"{name} ({session_id})" in periodic
    assert "asks for its status" in periodic
    assert made["reminder_id"] in once
    assert "the build" in once
    everybody = json.loads(person.run("remind", "--list", "--json"))
    assert made["reminder_id"] in [each["id"] for each in everybody]

    assert person.run("remind", "--cancel", made["reminder_id"]) == "cancelled: the build\n"
    left = json.loads(person.run("remind", "--list", name, "--json"))
    assert [each["kind"] for each in left] == ["periodic"]
    refused = person.refused("remind", "--cancel", made["reminder_id"])
    assert "sm remind --list" in refused


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--cancel"],
        ["--stop"],
        ["--list", "--stop", "x"],
        ["--list", "x", "y"],
        ["--cancel", "x", "--to", "y"],
    ],
)
def test_a_reminder_that_is_not_clear_is_refused(person: Person, words: list[str]) -> None:
    assert "sm remind --list" in person.refused("remind", *words, code=2)


# Sessions.


def test_a_spawned_session_belongs_to_the_agent_that_spawned_it(
    person: Person, lead: tuple[Person, str, str]
) -> None:
    agent, lead_id, _ = lead
    spawned = agent.sm(
        "spawn", "[[say: hello]]", "--driver", "scripted", "--name", "w 1", "--wait", "60"
    )
    assert spawned.stdout == "hello\n"
    (child,) = person.navi.children(lead_id)
    assert (child["name"], child["parent_id"]) == ("w 1", lead_id)
    assert spawned.stderr == f"w 1 ({child['id']})\n"
    orphan = json.loads(person.run("spawn", "--driver", "scripted", "--cwd", "/", "--json"))
    assert (orphan["parent_id"], orphan["cwd"], orphan["state"]) == (None, "/", "idle")


def test_only_the_parent_or_a_person_may_clear_and_kill(
    person: Person, lead: tuple[Person, str, str]
) -> None:
    agent, lead_id, _ = lead
    child_id, child = person.session(parent_id=lead_id)
    stranger_id, _ = person.session()
    for somebody in (person.agent_of(stranger_id), person.agent_of(child_id)):
        for act in ("clear", "kill"):
            assert "only its parent or a person may" in somebody.refused(act, child)
    assert agent.run("clear", child) == f"cleared {child} ({child_id})\n"
    assert agent.run("kill", child) == f"{child} ({child_id}) has ended\n"
    assert person.run("kill", lead_id).endswith("has ended\n")
    assert "has ended and accepts no more inputs" in person.refused("send", child, "hello")


def test_an_agent_knows_itself_and_its_task(lead: tuple[Person, str, str], person: Person) -> None:
    agent, lead_id, name = lead
    assert agent.run("task") == "(no task)\n"
    assert agent.run("task", "issue", "12") == "task: issue 12\n"
    fields = dict(line.split(maxsplit=1) for line in agent.run("me").splitlines())
    assert (fields["session"], fields["task"]) == (f"{name} ({lead_id})", "issue 12")
    assert json.loads(agent.run("me", "--json")) == person.navi.session(lead_id)
    for command in ("me", "task", "task-complete", "children"):
        assert "NAVI_SESSION_ID is not set" in person.refused(command, code=2)
    assert "NAVI_SESSION_ID is not set" in person.refused("status", "x", code=2)


async def test_a_completed_task_ends_reminders_and_is_reported_to_the_parent(
    person: Person, lead: tuple[Person, str, str], client: Client
) -> None:
    _, lead_id, _ = lead
    child_id, child = person.session(parent_id=lead_id)
    worker = person.agent_of(child_id)
    worker.run("task", "issue 12")
    person.navi.remind(child_id, 60)
    assert worker.run("task-complete", "all green") == "done; the parent was notified\n"
    await finished(client, lead_id)
    (notice, _) = await client.messages(lead_id)
    assert notice["content"] == (
        f"[sm task-complete] {child} ({child_id}) has completed its task (issue 12): all green"
    )
    assert worker.run("task") == "(no task)\n"
    assert "is not being reminded" in person.refused("remind", child, "--stop")
    orphan_id, _ = person.session()
    output = person.agent_of(orphan_id).run("task-complete")
    assert output == "done; there is no parent to notify\n"


def test_all_shows_children_below_their_parents(
    person: Person, lead: tuple[Person, str, str]
) -> None:
    _, lead_id, name = lead
    child_id, child = person.session(parent_id=lead_id)
    lines = person.run("all").splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(f"{name} ("))
    assert lines[at + 1].startswith(f"  {child} ({child_id})")


def test_a_status_is_taken_back_and_too_long_ones_are_refused(
    lead: tuple[Person, str, str],
) -> None:
    agent, _, _ = lead
    assert agent.run("status", "x") == 'status: "x"\n'
    assert agent.run("status", "--clear") == "status: (no status)\n"
    assert "at most 1,000" in agent.refused("status", "x" * 1001)
    assert "blank" in agent.refused("status", " ", code=2)


def test_an_agent_reports_from_its_own_shell(person: Person) -> None:
    """Commands that Navi starts find `sm`, and `sm` finds the server and the session."""
    session_id, name = person.session()
    output = person.run(
        "send", name, '[[bash: sm status "from the shell"]] [[say: reported]]', "--wait", "60"
    )
    assert output == "reported\n"
    assert person.navi.session(session_id)["agent_status_text"] == "from the shell"


def test_an_agent_reports_and_writes_with_its_tools(person: Person) -> None:
    session_id, name = person.session()
    other_id, other = person.session()
    script = (
        '[[tool: report_status | {"text": "working"}]]'
        f'[[tool: send_message | {{"target": "{other}", "text": "hello"}}]] [[say: done]]'
    )
    person.run("send", name, script, "--wait", "60")
    assert person.navi.session(session_id)["agent_status_text"] == "working"
    person.navi.wait(other_id, 30)
    output = person.run("output", other)
    assert output == f"ok: [message from {name} ({session_id})]\nhello\n"


# Output.


def test_output_and_tail_say_how_a_turn_ended_that_did_not_go_well(person: Person) -> None:
    _, name = person.session()
    words = "the script's usage limit is reached"
    sent = person.sm("send", name, "[[say: I try]] [[limit: 86400]]", "--wait", "60")
    assert sent.returncode == 1
    assert f"hit a usage limit: {words} (limit until " in sent.stderr
    assert "then it continues" in sent.stderr
    done = person.sm("output", name)
    assert (done.stdout, done.stderr) == ("I try\n", f"[limit: {words}]\n")
    assert person.run("tail", name).splitlines()[-1].endswith(f"[limit: {words}]")
    person.run("limit", "--ignore")


async def test_a_session_at_a_limit_shows_until_when_and_goes_on_if_a_person_ignores_it(
    person: Person, client: Client
) -> None:
    session_id, name = person.session()
    assert "no agent has hit" in person.sm("limit").stderr
    person.run("send", name, "[[say: I try]] [[limit: 3600]]")
    await finished(client, session_id)
    other_id, other = person.session()
    person.run("recall", other, "--now", "[[say: woken]] print report.pdf")

    def is_held() -> bool:
        return person.navi.session(other_id)["limit_until"] is not None

    await eventually(is_held, "the recall waits for the limit")
    [row] = [line for line in person.run("status").splitlines() if line.startswith(name)]
    assert re.search(r"idle, limit until (\w{3} )?\d\d:\d\d", row)
    head, row = person.run("limit").splitlines()
    assert head.split() == ["ACCOUNT", "LIMIT", "USED", "RESETS", "WAITING"]
    assert re.match(r"scripted:local +usage +- +in (1 h|59 min|60 min).* [2-9]$", row)
    assert "no usage limit is known" in person.refused("limit", "--ignore", "nobody")

    ignored = json.loads(person.run("limit", "--ignore", "scripted:local", "--json"))
    assert ignored == []
    await finished(client, session_id, 2)
    await finished(client, other_id)
    assert person.run("output", other) == "woken\n"
    assert "limit until" not in person.run("status")


def test_output_and_tail_show_what_happened(person: Person) -> None:
    session_id, name = person.session()
    assert person.sm("output", name).stderr == f"{name} ({session_id}) has said nothing yet\n"
    assert person.sm("tail", name).stderr == f"{name} ({session_id}) has no messages yet\n"
    person.run("send", name, "[[bash: echo one]] [[say: first]]", "--wait", "60")
    person.run("send", name, "[[say: second \x1b[2Jtime]]", "--wait", "60")
    assert person.run("output", name) == "second time\n"
    assert person.run("output", name, "-n", "2") == "first\nsecond time\n"
    lines = [line[9:] for line in person.run("tail", name).splitlines()]
    assert lines == [
        "user: [[bash: echo one]] [[say: first]]",
        'assistant calls terminal {"command": "echo one"} -> one',
        "assistant: first",
        "user: [[say: second time]]",
        "assistant: second time",
    ]
    assert len(json.loads(person.run("tail", name, "-n", "2", "--json"))) == 2


def test_tail_follows_what_happens(person: Person) -> None:
    session_id, name = person.session()
    person.run("send", name, "[[say: before]]", "--wait", "60")
    following = person.start("tail", name, "--follow")
    assert following.stdout is not None
    seen = [following.stdout.readline()[9:] for _ in range(2)]
    person.navi.send(session_id, "[[say: while it follows]]")
    seen += [following.stdout.readline() for _ in range(3)]
    following.send_signal(signal.SIGINT)
    assert following.wait(30) == 130
    following.communicate()
    assert seen == [
        "user: [[say: before]]\n",
        "assistant: before\n",
        "user: [[say: while it follows]]\n",
        "while it follows\n",
        "[end of turn]\n",
    ]


def test_watch_prints_each_change(person: Person) -> None:
    session_id, name = person.session()
    watching = person.start("watch")
    assert watching.stdout is not None
    give_up_at = time.monotonic() + 60
    while f"{name} ({session_id}) | idle | (no status)" not in watching.stdout.readline():
        assert time.monotonic() < give_up_at
    person.agent_of(session_id).run("status", "here I am")
    while f'{name} ({session_id}) | idle | "here I am"' not in watching.stdout.readline():
        assert time.monotonic() < give_up_at
    watching.send_signal(signal.SIGINT)
    assert watching.wait(30) == 130
    watching.communicate()


@pytest.mark.parametrize(
    "arguments",
    [
        ["send", "nobody-has-this-name", "x"],
        ["wait", "nobody-has-this-name", "1"],
        ["output", "nobody-has-this-name"],
        ["tail", "nobody-has-this-name"],
        ["queue", "nobody-has-this-name"],
        ["kill", "nobody-has-this-name"],
        ["clear", "nobody-has-this-name"],
        ["children", "nobody-has-this-name"],
        ["remind", "nobody-has-this-name", "--stop"],
    ],
)
def test_a_session_that_nobody_knows_is_refused(person: Person, arguments: list[str]) -> None:
    assert "there is no session 'nobody-has-this-name'" in person.refused(*arguments)


def test_a_session_that_has_ended_is_refused_with_the_command_that_starts_another(
    person: Person,
) -> None:
    session_id, name = person.session()
    person.run("kill", name)
    refusal = person.refused("send", session_id, "more")
    assert "has ended and accepts no more inputs" in refusal
    assert "start a new one with `sm spawn`" in refusal
