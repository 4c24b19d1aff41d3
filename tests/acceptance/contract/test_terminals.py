"""No text from a transcript, name or message reaches a terminal as a control code.

The commands are taken from the programs themselves, so a new one cannot be forgotten.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest

from navi.base.control_characters import CONTROL_CHARACTER
from navi.cli.recall.main import group as recall_group
from navi.cli.sm.main import group as sm_group
from tests.acceptance.contract.command_runs import run_in_pipe, run_on_terminal
from tests.acceptance.contract.person import Person
from tests.memory_world import World
from tests.server import ServerProcess

HOSTILE = (
    "plum \x1b]52;c;aGk=\x07\x1b]0;own\x07\x1b[2J\x1b[45mB\x1b[8mC\x1b]8;;x\x1b\\link\x1b]8;;\x1b\\"
    "\x1bPq\x1b\\\x1b_a\x1b\\\x1b^b\x1b\\\x1bXs\x1b\\\x9b31m\x9d0;x\x9c\x7f\x08\x0e\r"
    "\u202eR\u2066I\u200fM\u061cA\u200eL\u2069\u202c"
)
"""Clipboard, title, clear screen, background, hidden text, links, and a line turned around."""
HOSTILE_ID = "evil-\x1b[45m\u202e"
# Navi's own codes: colours, and those that redraw the screen.
OWN_CODES = re.compile(r"\x1b\[(?:[0-9;]*m|[HJK]|\?1049[hl]|\?25[hl])|\r\x1b\[K")
FOREIGN_COLOURS = ("\x1b[45m", "\x1b[8m")
PROGRAMS = {"recall": recall_group, "sm": sm_group}
FULL_SCREEN = "recall pick"
"""Its screen is read by tests/acceptance/picker."""

CASES: dict[str, list[list[str]]] = {
    "recall index": [["--full", "-v"], ["--json"]],
    "recall search": [
        *(
            ["plum"],
            ["plum", "-C", "2"],
            ["plum", "--json", "-C", "2"],
            ["plum", "--tool", HOSTILE],
        ),
        *(["plum", "--project", HOSTILE], ["nothing" + HOSTILE], ["plum", "--session", HOSTILE]),
    ],
    "recall list": [[], ["--json"], ["--project", HOSTILE], ["--tag", HOSTILE]],
    "recall show": [
        *(["{past}"], ["{past}", "--tools", "--thinking"], ["{past}", "--grep", "plum"]),
        *(["{past}", "--json"], [HOSTILE]),
    ],
    "recall stats": [[], ["--json"], ["--project", HOSTILE]],
    "recall stats tools": [[], ["--json"]],
    "recall stats bash": [[], ["--json"], ["--suggest", "--all"], ["--suggest", "--json"]],
    "recall stats tokens": [["--by", "project,model"], ["--by", "project,model", "--json"]],
    "recall resume": [["{past}"], ["{past}", "--json"], ["{odd}"]],
    "recall export": [["{past}", "--thinking"], ["{past}", "--format", "html"]],
    "recall import": [[HOSTILE]],
    "recall sync": [["/nowhere/" + HOSTILE], [HOSTILE]],
    "recall diff": [["{past}", "{past}"], ["{past}", "{past}", "--json"], ["{past}", HOSTILE]],
    "recall digest": [[], ["--json"], ["--markdown"], ["--project", HOSTILE]],
    "recall pick": [["--print", HOSTILE]],
    "recall init": [["bash"], ["bash", "--key", HOSTILE]],
    "recall model": [[]],
    "recall model install": [["--from", HOSTILE]],
    "recall model remove": [["--yes"]],
    "recall keep": [["{past}"], ["{past}", "--json"], [HOSTILE], ["{past}", "--off"]],
    "recall restore": [["{past}"], [HOSTILE]],
    "recall tag": [["{past}", "good"], ["{past}", HOSTILE], ["{past}", "--json"]],
    "recall untag": [["{past}", "good"], ["{past}", HOSTILE]],
    "recall watch": [["--json", "-v"]],
    "recall doctor": [[], ["--json"]],
    "recall completions": [["bash"]],
    "sm status": [[], ["--json"], ["reading the log"], [HOSTILE]],
    "sm spawn": [["[[say: " + HOSTILE + "]]", "--driver", "scripted", "--wait", "60"]],
    "sm send": [["{id}", "[[say: " + HOSTILE + "]]", "--wait", "60"], [HOSTILE, "hello"]],
    "sm wait": [["{id}", "60"], ["{id}", "60", "--json"]],
    "sm output": [["{id}"], ["{id}", "--json"]],
    "sm tail": [["{id}"], ["{id}", "--json"]],
    "sm watch": [[]],
    "sm children": [["{parent}", "--recursive"], ["{parent}", "--json"]],
    "sm all": [[], ["--json"]],
    "sm me": [[], ["--json"]],
    "sm task": [[], ["--json"], [HOSTILE]],
    "sm queue": [["{busy}"], ["{busy}", "--json"]],
    "sm remind": [["1h", HOSTILE, "--to", "{id}"], ["--list"], ["--list", "--json"]],
    "sm recall": [
        *(["{id}", "1h", HOSTILE], ["{id}"], ["{id}", "--list"], ["{id}", "--json"]),
        *(["{id}", "--cancel"], ["{id}", "1h", "x", "--comment", HOSTILE]),
    ],
    "sm automation add": [["{id}", HOSTILE, "--every", "1h", "--preview"], ["{id}", HOSTILE]],
    "sm automation edit": [["{automation}", "--message", HOSTILE]],
    "sm automation list": [[], ["--json"]],
    "sm automation show": [["{automation}"], ["{automation}", "--json"]],
    "sm automation runs": [["{automation}"], ["{automation}", "--json"]],
    "sm automation pause": [["{automation}"]],
    "sm automation resume": [["{automation}"]],
    "sm automation remove": [["{automation}"]],
    "sm agenda": [[], ["--json"], ["--until", HOSTILE]],
    "sm inbox": [[], ["--json"], ["--all"]],
    "sm answer": [["{id}", HOSTILE], [HOSTILE, "allow"]],
    "sm limit": [[], ["--json"]],
    "sm budget": [[], ["--json"], ["{id}", "1usd"], [HOSTILE, "1usd"], ["{id}", "--remove"]],
    "sm open": [["{id}"], [HOSTILE]],
    "sm rename": [["{spare}", HOSTILE], ["{spare}", "x"]],
    "sm pin": [["{id}"], ["{id}", "--undo", "--json"]],
    "sm archive": [["{id}"], ["{id}", "--undo", "--json"]],
    "sm stop": [["{spare}"], ["{spare}", "--json"]],
    "sm attach": [["{id}"]],
    "sm clear": [["{id}"]],
    "sm task-complete": [[HOSTILE]],
    "sm kill": [["{id}"]],
    "sm delete": [["{spare}"], ["{spare}", "--yes"]],
    "sm completions": [["bash"]],
}


@dataclass(frozen=True, slots=True)
class Home:
    """A home full of hostile texts, and its server."""

    environment: dict[str, str]
    names: dict[str, str]

    def command(self, path: str, arguments: list[str]) -> list[str]:
        for name, value in self.names.items():
            arguments = [each.replace(f"{{{name}}}", value) for each in arguments]
        return [*path.split(), *arguments]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    folder = tmp_path_factory.mktemp("hostile")
    with ServerProcess(folder, settings={"NAVI_MODEL": "scripted"}) as server:
        person = Person(server)
        names = _plant_sessions(server, person)
        environment = {
            **server.environment,
            "NAVI_URL": server.address,
            "NAVI_SESSION_ID": names["id"],
            "XDG_DATA_HOME": str(folder / "share"),
            "PAGER": "cat",
            "TERM": "xterm-256color",
            "COLUMNS": "100",
            "TZ": "UTC",
        }
        for name in ("NO_COLOR", "DISPLAY", "WAYLAND_DISPLAY"):
            environment.pop(name, None)
        names |= _plant_transcripts(folder, environment)
        yield Home(environment, names)


def _plant_sessions(server: ServerProcess, person: Person) -> dict[str, str]:
    """Rows that a server stored before it refused control characters."""
    parent, _ = person.session()
    session, _ = person.session(parent_id=parent)
    busy, _ = person.session()
    spare, _ = person.session()
    person.run("send", session, f"[[bash: echo x]] [[say: {HOSTILE}]]", "--wait", "60")
    person.run("send", session, f"[[fail: {HOSTILE}]]")
    person.run("wait", session, "60")
    person.run("send", busy, "[[sleep: 600]]")
    person.run("send", busy, HOSTILE)
    automation_json = person.run(
        "automation", "add", session, f"[[fail: {HOSTILE}]]", "--every", "1h", "--json"
    )
    automation = json.loads(automation_json)["id"]
    with sqlite3.connect(server.home / "navi" / "navi.sqlite3", timeout=60) as store:
        for table, columns in (
            ("sessions", ("name", "task", "agent_status_text", "model", "cwd")),
            ("automations", ("name", "message")),
        ):
            values = ", ".join(f"{column} = ?" for column in columns)
            store.execute(f"UPDATE {table} SET {values}", [HOSTILE] * len(columns))
    store.close()
    return {"parent": parent, "id": session, "busy": busy, "spare": spare, "automation": automation}


def _plant_transcripts(folder: Path, environment: dict[str, str]) -> dict[str, str]:
    world = World(folder)
    past = world.file("evil-session", HOSTILE)
    past.cwd = str(folder / HOSTILE)
    more = {"type": "user", "sessionId": "evil-session", "cwd": past.cwd, "gitBranch": HOSTILE}
    message = {"role": "user", "content": HOSTILE}
    past.raw(_line({**more, "uuid": "b", "timestamp": "2026-03-01T11:00:00Z", "message": message}))
    past.raw(_line({"type": "summary", "summary": HOSTILE, "leafUuid": "x"}))
    past.say(HOSTILE).say(HOSTILE + "\n```python\n" + HOSTILE + "\n```", "assistant", model=HOSTILE)
    past.think(HOSTILE).run(f"echo {HOSTILE}", tool=HOSTILE).run(f"{HOSTILE} --now")
    call = {
        "type": "tool_use",
        "id": "t",
        "name": HOSTILE,
        "input": {HOSTILE: HOSTILE, "path": HOSTILE},
    }
    past.line("assistant", [call])
    past.raw(_line({"type": HOSTILE, "uuid": "c"})).raw(b"broken " + HOSTILE.encode() + b"\n")
    world.file(HOSTILE_ID, HOSTILE).say("plum in a file with an odd name")
    run_in_pipe(["recall", "index"], environment)
    listed = json.loads(run_in_pipe(["recall", "list", "--json"], environment))
    by_agent_id = {each["source_session_id"]: each["id"] for each in listed}
    return {"past": by_agent_id["evil-session"], "odd": by_agent_id[HOSTILE_ID]}


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _commands(command: click.Command, path: str) -> Iterator[str]:
    """Every command below this one that can be run."""
    if not isinstance(command, click.Group):
        yield path
        return
    if command.invoke_without_command:
        yield path
    context = click.Context(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from _commands(below, f"{path} {name}")


def test_every_command_is_tried() -> None:
    every = {path for name, group in PROGRAMS.items() for path in _commands(group, name)}
    assert every == set(CASES)


@pytest.mark.parametrize("path", CASES)
def test_no_control_character_reaches_a_pipe(home: Home, path: str) -> None:
    for arguments in CASES[path]:
        command = home.command(path, arguments)
        output = run_in_pipe(command, home.environment, _until(path, home))
        assert output
        assert _control_characters(output) == [], arguments


@pytest.mark.proof
@pytest.mark.parametrize("path", [path for path in CASES if path != FULL_SCREEN])
def test_no_control_character_reaches_a_terminal(home: Home, path: str) -> None:
    for arguments in CASES[path]:
        command = home.command(path, arguments)
        output = run_on_terminal(command, home.environment, _until(path, home))
        assert output
        assert not any(code in output for code in FOREIGN_COLOURS), arguments
        assert _control_characters(OWN_CODES.sub("", output)) == [], arguments


def test_completions_hold_no_control_character(home: Home) -> None:
    for shell in ("bash", "zsh", "fish"):
        for words in ("recall show ", "recall list --project ", "recall search --tool "):
            environment = {
                "_RECALL_COMPLETE": f"{shell}_complete",
                "COMP_WORDS": words,
                "COMP_CWORD": str(words.count(" ")),
            }
            output = run_in_pipe(["recall"], {**home.environment, **environment})
            assert _control_characters(output) == [], (shell, words)


def test_json_escapes_control_characters_and_keeps_the_value(home: Home) -> None:
    command = home.command("recall show", ["{past}", "--json"])
    session = json.loads(run_in_pipe(command, home.environment))
    assert session["messages"][0]["content"] == HOSTILE
    assert session["git_branch"] == HOSTILE


@pytest.mark.parametrize(
    ("path", "arguments"),
    [
        ("recall show", ["{past}"]),
        ("recall search", ["plum"]),
        ("recall export", ["{past}"]),
        ("recall export", ["{past}", "--format", "html"]),
        ("sm output", ["{id}", "-n", "2"]),
        ("sm tail", ["{id}"]),
    ],
)
def test_raw_keeps_control_characters(home: Home, path: str, arguments: list[str]) -> None:
    output = run_in_pipe(home.command(path, [*arguments, "--raw"]), home.environment)
    assert HOSTILE[:40] in output
    assert "\u202eR" in output


def _until(path: str, home: Home) -> str | None:
    """The last output of a command that never ends."""
    return home.names["id"] if path == "sm watch" else None


def _control_characters(text: str) -> list[str]:
    return [f"U+{ord(each):04X}" for each in CONTROL_CHARACTER.findall(text)]
