"""`sm` for people with many sessions: the overview, names, and what is done to a session."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from navi.cli import cells
from tests.acceptance.contract.command_runs import run_on_terminal
from tests.acceptance.contract.conftest import finished
from tests.acceptance.contract.person import Person
from tests.server import Client

LONG = "[[sleep: 600]]"
COLOUR = re.compile("\x1b\\[[0-9;]*m")


def row_of(person: Person, session_id: str, *options: str) -> str:
    (line,) = [each for each in person.run("status", *options).splitlines() if session_id in each]
    return " ".join(line.split())


# The overview.


def test_status_says_what_needs_a_person_until_they_have_looked(person: Person) -> None:
    failed_id, failed = person.session()
    finished_id, finished = person.session()
    person.navi.send(failed_id, "[[fail: out of paper]]")
    person.navi.send(finished_id, "[[say: all green]]")
    for session_id in (failed_id, finished_id):
        person.navi.wait(session_id, 60)
    calm_id, _ = person.session()

    status = person.sm("status")
    assert re.match(r"\d+ needs? you: (\d+ waiting, )?\d+ failed, \d+ finished; ", status.stderr)
    assert max(map(status.stdout.index, (failed_id, finished_id))) < status.stdout.index(calm_id)
    assert f"{failed} failed " in row_of(person, failed_id)
    assert f"{finished} finished " in row_of(person, finished_id)

    person.run("tail", failed)
    person.run("output", finished)
    assert f"{failed} idle " in row_of(person, failed_id)
    assert f"{finished} idle " in row_of(person, finished_id)


def test_only_a_person_who_looks_makes_a_session_read(person: Person) -> None:
    session_id, name = person.session()
    person.navi.send(session_id, "[[say: all green]]")
    person.navi.wait(session_id, 60)
    other_id, _ = person.session()

    person.agent_of(other_id).run("output", name)
    person.agent_of(other_id).run("tail", name)
    person.run("output", name, "--json")
    assert person.navi.session(session_id)["attention"] == "finished"

    person.run("output", name)
    assert person.navi.session(session_id)["attention"] is None


def test_a_person_who_waits_for_the_answer_has_read_it(person: Person) -> None:
    session_id, name = person.session()
    person.run("send", name, "[[say: all green]]", "--wait", "60")
    assert person.navi.session(session_id)["attention"] is None
    person.refused("send", name, "[[fail: out of paper]]", "--wait", "60")
    assert person.navi.session(session_id)["attention"] is None


def test_a_person_is_notified_of_the_end_of_a_childs_turn(person: Person) -> None:
    parent_id, _ = person.session()
    session_id, name = person.session(parent_id=parent_id)
    output = person.run("send", name, "[[say: all green]]", "--notify-on-stop")
    assert "will show it as finished" in output
    person.navi.wait(session_id, 60)
    assert f"{name} finished " in row_of(person, session_id)


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_overview_fits_the_terminal_and_keeps_the_state(person: Person, columns: int) -> None:
    session_id, _ = person.session()
    mark = session_id[:8]
    person.navi.change_session(session_id, {"name": f"{mark} " + "long name " * 15})
    person.agent_of(session_id).run("status", "found 2 call sites, testing the fix " * 3)

    command = ["sm", "status"]
    _, *lines = run_on_terminal(command, _environment(person), columns=columns).splitlines()

    for line in lines:
        assert cells.width(COLOUR.sub("", line)) <= columns
    (row,) = [COLOUR.sub("", line) for line in lines if line.startswith(mark)]
    assert "…" in row
    assert re.search(r" idle\b", row)


def test_other_tables_fit_the_terminal_too(person: Person) -> None:
    session_id, name = person.session()
    text = "Read build.log and report every error that was not there yesterday."
    person.navi.send(session_id, LONG)
    person.navi.send(session_id, text)
    person.run("recall", name, "1h", text)
    person.run("automation", "add", name, text, "--cron", "0 9 * * 1-5")
    person.run("remind", "1h", text, "--to", name)
    commands = ("queue", name), ("recall", name, "--list"), ("automation", "list"), ("agenda",)
    for command in (*commands, ("remind", "--list")):
        output = run_on_terminal(["sm", *command], _environment(person), columns=80)
        for line in output.splitlines():
            assert cells.width(COLOUR.sub("", line)) <= 80, command


def test_the_overview_has_colours_only_on_a_terminal_that_wants_them(person: Person) -> None:
    person.session()
    environment = _environment(person)
    assert COLOUR.search(run_on_terminal(["sm", "status"], environment))
    plain = run_on_terminal(["sm", "status"], {**environment, "NO_COLOR": "1"})
    assert not COLOUR.search(plain)
    assert not COLOUR.search(person.run("status"))


def test_watch_says_how_many_sessions_do_not_fit_the_screen(person: Person) -> None:
    for _ in range(6):
        person.session()
    output = run_on_terminal(["sm", "watch"], _environment(person), " more", lines=8)
    screen = COLOUR.sub("", output).partition(" more")[0]
    assert re.search(r"\n\+\d+$", screen)
    assert "SESSION" in screen
    assert re.search(r"needs? you", screen)


async def test_an_archived_session_is_listed_only_with_all_or_while_it_needs_a_person(
    person: Person, client: Client
) -> None:
    session_id, name = person.session()
    assert person.run("archive", name) == f"{name} ({session_id}) is archived\n"
    done = person.sm("status")
    assert session_id not in done.stdout
    assert re.search(r"\d+ archived; `sm status --all` shows them\n", done.stderr)
    assert session_id not in person.run("status", "--json")
    assert f"{name} idle, archived " in row_of(person, session_id, "--all")

    person.navi.schedule_reminder(session_id, 0.1, "[[fail: out of paper]]")
    await finished(client, session_id)
    assert f"{name} failed, archived " in row_of(person, session_id)
    assert person.run("archive", name, "--undo").endswith(" is listed again\n")
    assert person.navi.session(session_id)["archived"] is False


def test_pinned_sessions_come_first(person: Person) -> None:
    session_id, name = person.session()
    newer_id, _ = person.session()
    assert person.run("pin", name) == f"{name} ({session_id}) is pinned\n"
    status = person.run("status")
    assert status.index(session_id) < status.index(newer_id)
    assert person.run("pin", name, "--undo").endswith(" is no longer pinned\n")


# Names.


def test_the_start_of_a_name_is_enough_if_it_is_clear(person: Person) -> None:
    _, name = person.session()
    assert name in person.run("wait", name[:20], "60")
    refusal = person.refused("kill", name[:20])
    assert f"there is no session '{name[:20]}'" in refusal


def test_a_misspelled_name_is_answered_with_the_right_one(person: Person) -> None:
    session_id, name = person.session()
    refusal = person.refused("send", name.replace("builder", "bilder"), "hello")
    assert f"did you mean {name} ({session_id})?" in refusal


def test_a_name_that_is_taken_is_said_to_be(person: Person) -> None:
    _, name = person.session()
    spawned = person.sm("spawn", "--name", name, "--driver", "scripted", "--json")
    session_id = json.loads(spawned.stdout)["id"]
    assert f"2 sessions are called {name}; use the id {session_id}" in spawned.stderr
    refusal = person.refused("send", name, "hello")
    assert f"{name} ({session_id}; idle, active " in refusal
    person.run("kill", session_id)
    assert person.run("send", name, "[[say: still here]]", "--wait", "60") == "still here\n"

    assert person.sm("rename", session_id, f"other-{name}").stderr == ""
    assert "2 sessions are called" in person.sm("rename", session_id, name).stderr


def test_a_shell_completes_sessions_by_name_or_by_id_where_the_name_is_not_clear(
    person: Person,
) -> None:
    _, name = person.session()
    twins = [person.session()[0] for _ in range(2)]
    for session_id in twins:
        person.run("rename", session_id, "two words")

    def completions(words: str, **environment: str) -> str:
        position = str(words.count(" "))
        completion = {"_SM_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": position}
        return person.with_environment(**completion, **environment).sm().stdout

    assert completions(f"sm send {name[:16]}") == f"plain,{name}\n"
    for session_id in twins:
        assert completions(f"sm archive {session_id[:8]}") == f"plain,{session_id}\n"
    assert completions(f"sm send {name[:16]}", NAVI_URL="http://127.0.0.1:1") == "\n"


def test_a_misspelled_command_is_answered_with_the_right_one(person: Person) -> None:
    assert "did you mean `status`" in person.refused("stauts", code=2)
    assert "did you mean `list`" in person.refused("automation", "lst", code=2)


# What is done to a session.


def test_a_turn_is_stopped_and_the_session_goes_on(person: Person) -> None:
    session_id, name = person.session()
    assert person.sm("stop", name).stderr == f"{name} ({session_id}) has no running turn\n"
    person.run("send", name, f"[[say: I begin]] {LONG}")
    person.run("send", name, "[[say: next]]")
    stopped = person.run("stop", name)
    assert stopped.startswith(f"stopped the turn of {name} ({session_id})")
    person.navi.wait(session_id, 60)
    lines = [line[9:] for line in person.run("tail", name).splitlines()]
    assert "[stopped]" in lines or "assistant: (stopped)" in lines
    assert lines[-1] == "assistant: next"


def test_a_stopped_turn_is_shown_as_stopped_even_if_its_text_has_the_word(person: Person) -> None:
    session_id, name = person.session()
    following = person.start("tail", name, "--follow")
    assert following.stdout is not None
    person.run("send", name, f"[[say: I have stopped the server.]] {LONG}")
    while "I have stopped the server." not in (line := following.stdout.readline()):
        assert line
    person.run("stop", name)
    while "[stopped]" not in (line := following.stdout.readline()):
        assert line
    following.terminate()
    following.communicate()
    person.navi.wait(session_id, 60)
    assert person.run("tail", name).splitlines()[-1][9:] == "[stopped]"
    assert person.sm("output", name).stderr == "[stopped]\n"


def test_a_session_is_renamed(person: Person) -> None:
    session_id, name = person.session()
    renamed = f"docs {name}"
    assert (
        person.run("rename", name, "docs", name) == f"renamed {name} to {renamed} ({session_id})\n"
    )
    assert person.navi.session(session_id)["title"] == renamed
    assert "the new name is missing" in person.refused("rename", renamed, code=2)


def test_a_session_is_deleted_with_all_that_is_in_it_after_a_question(person: Person) -> None:
    session_id, name = person.session()
    person.run("send", name, LONG)
    person.run("send", name, "later")
    person.run("recall", name, "1h", "Read build.log")
    person.run(
        "automation", "add", name, "Look at app.log.", "--name", "error log", "--every", "1h"
    )
    person.run("remind", "1h", "the build", "--to", name)
    contents = "its transcript, 1 queued input, its recall, 1 automation (error log) and 1 reminder"
    environment = _environment(person)

    assert "pass --yes" in person.refused("delete", name, code=2)
    kept = run_on_terminal(["sm", "delete", name], environment, typed="n\n", columns=300)
    assert f"Delete {name} ({session_id}) for good, with {contents}? [y/N]" in kept
    assert person.navi.session(session_id)["state"] == "running"

    deleted = run_on_terminal(["sm", "delete", name], environment, typed="y\n", columns=300)
    assert f"deleted {name} ({session_id}) with {contents}" in deleted
    assert "there is no session" in person.refused("output", session_id)


def test_what_is_deleted_without_a_question_is_said(person: Person) -> None:
    session_id, name = person.session()
    assert (
        person.run("delete", name, "--yes")
        == f"deleted {name} ({session_id}) with its transcript\n"
    )
    other_id, other = person.session()
    deleted = json.loads(person.run("delete", other, "--yes", "--json"))
    assert deleted == {"deleted": True, "id": other_id}


def test_only_the_parent_or_a_person_may_delete(person: Person) -> None:
    stranger_id, _ = person.session()
    _, name = person.session()
    refusal = person.agent_of(stranger_id).refused("delete", name, "--yes")
    assert "only its parent or a person may" in refusal


def test_open_prints_the_address_and_opens_it_where_there_is_a_desktop(
    person: Person, tmp_path: Path
) -> None:
    session_id, name = person.session()
    person.navi.send(session_id, "[[say: all green]]")
    person.navi.wait(session_id, 60)
    address = f"{person.address}/#/sessions/{session_id}\n"
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(
        f'#!{sys.executable}\nimport sys\nopen({str(opened)!r}, "w").write(sys.argv[1])\n'
    )
    browser.chmod(0o755)
    alone = person.with_environment(DISPLAY="", WAYLAND_DISPLAY="", BROWSER=f"{browser} %s")
    assert alone.run("open", name) == address
    assert alone.run("open") == f"{person.address}/\n"
    assert not opened.exists()
    assert person.navi.session(session_id)["attention"] == "finished"

    assert alone.with_environment(DISPLAY=":0").run("open", name) == address
    assert opened.read_text() == address.strip()
    assert person.navi.session(session_id)["attention"] is None


def test_the_agenda_lists_what_happens_next_in_all_sessions(person: Person) -> None:
    session_id, name = person.session()
    person.run("recall", name, "2h", "Read build.log")
    person.run(
        "automation", "add", name, "Look at app.log.", "--name", "error log", "--every", "1h"
    )
    person.run("remind", "3h", "the build", "--to", name)

    head, *lines = person.run("agenda", "--tz", "+09:00").splitlines()
    assert head.split() == ["WHEN", "IN", "WHAT", "SESSION", "TITLE", "ID"]
    own = [line for line in lines if session_id in line]
    kinds = [re.search(r"recall|automation|reminder", line) for line in own]
    assert [kind and kind[0] for kind in kinds] == ["automation", "recall", "reminder"]
    assert "error log" in own[0]
    listed = json.loads(person.run("agenda", "--json", "--until", "90m"))
    assert [each["kind"] for each in listed if each["session_id"] == session_id] == ["automation"]
    assert "can't read 'soonish' as a time" in person.refused("agenda", "--until", "soonish")


# Messages.


def test_a_message_is_important_or_urgent_not_both(person: Person) -> None:
    _, name = person.session()
    refusal = person.refused("send", name, "hello", "--important", "--urgent", code=2)
    assert "--important and --urgent can't be combined" in refusal


def test_tail_cuts_long_texts_and_says_how_much_is_missing(person: Person) -> None:
    session_id, name = person.session()
    person.navi.send(session_id, "[[say: read]] " + "x" * 94_000)
    person.navi.wait(session_id, 60)
    output = person.run("tail", name)
    assert len(output) < 3_000
    assert "… 92,014 more characters; --full shows them\n" in output
    assert "x" * 94_000 in person.run("tail", name, "--full")


def _environment(person: Person) -> dict[str, str]:
    environment = {**person.environment, "TERM": "xterm-256color"}
    for name in ("NO_COLOR", "COLUMNS"):
        environment.pop(name, None)
    return environment
