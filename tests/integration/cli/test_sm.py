"""`sm` without a server: its arguments, and which session they mean."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from navi import __version__
from navi.base.errors import (
    InvalidInput,
    NaviError,
    NotFound,
    NotYours,
    SessionNotFound,
    SessionStopped,
    UsageError,
)
from navi.cli.sm import target
from navi.cli.sm.hints import in_sm_words
from navi.cli.sm.lines import plain, status
from navi.cli.sm.recall_plan import read
from navi.cli.sm.target import SessionUnclear
from navi.live.model.scheduling.recall import CallType
from navi.live.model.scheduling.recall_request import RecallRequest
from navi.live.model.scheduling.reminder import CannotReport
from navi.live.model.wire_format import SessionJson
from tests.integration.cli.command_runs import sm
from tests.integration.stand_in_servers import answering


@pytest.mark.parametrize(
    ("headers", "note"),
    [
        (b"Navi-Version: 0.0.1\r\n", "note: the server runs Navi 0.0.1, but this is "),
        (f"Navi-Version: {__version__}\r\n".encode(), ""),
        (b"", ""),
    ],
)
def test_a_server_of_another_version_is_noted_once(headers: bytes, note: str) -> None:
    with answering(b"[]", headers=b"Date: Wed, 18 Nov 2026 12:00:00 GMT\r\n" + headers) as address:
        done = sm("status", "--json", NAVI_URL=address, NAVI_TOKEN="token")
    assert (done.returncode, done.stdout) == (0, "[]\n")
    assert done.stderr.startswith(note)
    assert done.stderr.count("\n") == (1 if note else 0)


def test_help_comes_without_importing_what_the_commands_need() -> None:
    script = (
        "import sys\n"
        "from navi.cli.sm.main import main\n"
        "heavy = {'http.client', 'email', 'ssl', 'asyncio', 'pydantic', 'httpx2', 'navi.client'}\n"
        "for command in ([], ['recall'], ['status'], ['send'], ['remind']):\n"
        "    sys.argv = ['sm', *command, '--help']\n"
        "    try: main()\n"
        "    except SystemExit: pass\n"
        "    print('imported for', command, sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    usages = [line.split()[:3] for line in lines if line.startswith("Usage: ")]
    assert usages[0][:2] == ["Usage:", "sm"]
    assert [name for _, _, name in usages[1:]] == ["recall", "status", "send", "remind"]
    imported = [line for line in lines if line.startswith("imported for")]
    assert len(imported) == 5
    assert all(line.endswith(" []") for line in imported), imported


def test_a_status_is_reported_without_the_libraries_that_take_long_to_import() -> None:
    script = (
        "import sys; sys.argv = ['sm', 'status', 'x']\n"
        "from navi.cli.sm.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'http.client', 'email', 'ssl', 'asyncio', 'websockets'}\n"
        "heavy.add('navi.base.time_expressions')\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    environment = {**os.environ, "NAVI_URL": "http://127.0.0.1:1", "NAVI_SESSION_ID": "x"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment
    )
    assert "no server answers" in done.stderr
    assert done.stdout == "[]\n"


def test_what_it_asks_for_needs_no_pydantic() -> None:
    commands = [
        ["recall", "builder", "30m", "Read build.log"],
        ["automation", "add", "builder", "--every", "1h", "Read build.log"],
        ["automation", "edit", "builder", "--at", "1h"],
    ]
    script = (
        "import sys\n"
        "from navi.cli.sm.main import main\n"
        f"for command in {commands}:\n"
        "    sys.argv = ['sm', *command]\n"
        "    try: main()\n"
        "    except SystemExit: pass\n"
        "    print(*{'pydantic'} & set(sys.modules))"
    )
    environment = {**os.environ, "NAVI_URL": "http://127.0.0.1:1"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment
    )
    assert done.stderr.count("no server answers") == len(commands)
    assert done.stdout == "\n" * len(commands)


def test_version_is_the_packages_version() -> None:
    command = [sys.executable, "-m", "navi.cli.sm.main", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert __version__ in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_its_completions(shell: str) -> None:
    finished = sm("completions", shell)
    assert finished.returncode == 0
    assert "_SM_COMPLETE" in finished.stdout


def test_completion_offers_the_commands() -> None:
    finished = sm(_SM_COMPLETE="bash_complete", COMP_WORDS="sm r", COMP_CWORD="1")
    assert "recall" in finished.stdout


def test_no_server_is_exit_code_2_with_the_command_that_starts_it() -> None:
    finished = sm("status", "--json", NAVI_URL="http://127.0.0.1:1")
    assert (finished.returncode, finished.stdout) == (2, "")
    assert finished.stderr.splitlines() == [
        "error: no server answers at http://127.0.0.1:1",
        "hint: start it with `navi serve`, or in the background with `navi service install`; "
        "if it runs elsewhere, set NAVI_URL",
    ]


TASK = "Read build.log"


@pytest.mark.parametrize(
    ("texts", "options", "plan"),
    [
        (["30m", TASK], {}, (CallType.ONCE, "30m", None)),
        (["9pm", TASK], {"every": "1d"}, (CallType.RECURRING, "9pm", 86_400)),
        ([TASK], {"every": "15m"}, (CallType.RECURRING, "15m", 900)),
        ([TASK], {"is_now": True}, (CallType.IMMEDIATE, None, None)),
        ([TASK], {"is_now": True, "every": "15m"}, (CallType.RECURRING, "now", 900)),
    ],
)
def test_the_words_become_the_recall_that_they_say(
    texts: list[str], options: dict[str, Any], plan: tuple[CallType, str | None, int | None]
) -> None:
    call_type, when, interval = plan
    expected = RecallRequest(
        call_type=call_type,
        when=when,
        interval_seconds=interval,
        additional_context_message=TASK,
    )
    assert read("builder", texts, **options) == expected
    commented = replace(expected, internal_comment="why")
    assert read("builder", texts, **options, comment="why") == commented


def test_a_session_alone_asks_for_what_is_pending() -> None:
    assert read("builder", []) == "show"
    assert read("builder", [], ["skip"]) == "skip"


@pytest.mark.parametrize(
    ("texts", "actions", "options", "sentence"),
    [
        ([], ["cancel", "list"], {}, "`sm recall builder --cancel`"),
        (["30m", TASK], ["cancel"], {}, "`sm recall builder --cancel`"),
        ([], ["skip"], {"every": "15m"}, "--skip and --every can't be combined"),
        ([], ["list"], {"is_now": True}, "--list and --now can't be combined"),
        ([], ["list"], {"comment": "why"}, "--list and --comment can't be combined"),
        (["30m"], [], {}, '`sm recall builder 30m "Read build.log'),
        ([], [], {"is_now": True}, '`sm recall builder --now "Read build.log'),
        ([], [], {"every": "15m"}, "the instruction is missing"),
        (["30m"], [], {"every": "15m"}, "the instruction is missing"),
        ([], [], {"comment": "why"}, "the instruction is missing"),
        ([TASK], [], {}, "`sm recall builder \"30m\" 'Read build.log'`"),
        (["30m", TASK], [], {"is_now": True}, "`sm recall builder --now 'Read build.log'`"),
        (["tomorrow", "at", "9", "Read", "it"], [], {}, "builder 'tomorrow at 9' 'Read it'`"),
        (["Read", "the", "log"], [], {}, "builder \"30m\" 'Read the log'`"),
        (["Read", "the", "log"], [], {"is_now": True}, "builder --now 'Read the log'`"),
    ],
)
def test_words_that_make_no_sense_together_are_refused_with_what_would_work(
    texts: list[str], actions: list[str], options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UsageError) as refused:
        read("builder", texts, actions, **options)
    assert sentence in refused.value.sentence
    assert refused.value.hint.count("`") % 2 == 0


@pytest.mark.parametrize("every", ["0s", "soon", "", "-5m", "20 years"])
def test_an_invalid_interval_is_refused_with_a_valid_one(every: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read("builder", [TASK], every=every)
    assert "15m" in refused.value.hint or "30m" in refused.value.hint


def session(session_id: str, name: str, state: str = "idle") -> SessionJson:
    fields = {"id": session_id, "name": name, "title": f"about {name}", "state": state}
    return cast(SessionJson, {**fields, "updated_at": "2026-11-15T10:00:00Z"})


def choose(sessions: Sequence[SessionJson], text: str, *, is_exact: bool = False) -> SessionJson:
    return target.choose(sessions, text, lambda: NOON, is_exact=is_exact)


NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
ONE = session("66a8c9ee00000001", "builder")
TWO = session("66a8ffff00000002", "poller")
THREE = session("340d070900000003", "poller")
FOUR = session("beef000000000004", "66a8c9")
ALL = [ONE, TWO, THREE, FOUR]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("builder", ONE),
        ("66a8c9ee00000001", ONE),
        ("66a8c9e", ONE),
        ("340d", THREE),
        ("beef", FOUR),
        ("about builder", ONE),
        ("About b", ONE),
    ],
)
def test_a_session_is_meant_by_id_by_name_or_by_the_beginning_of_either(
    text: str, expected: SessionJson
) -> None:
    assert choose(ALL, text) is expected


@pytest.mark.parametrize(
    ("text", "candidates"),
    [
        ("poller", [TWO, THREE]),
        ("66a8", [ONE, TWO]),
        ("66a8c9", [ONE, FOUR]),
        ("about p", [TWO, THREE]),
    ],
)
def test_a_text_that_means_several_sessions_lists_them(
    text: str, candidates: list[SessionJson]
) -> None:
    with pytest.raises(SessionUnclear) as refused:
        choose(ALL, text)
    listed = [each for each in ALL if each["id"] in refused.value.message]
    assert listed == candidates
    for each in listed:
        label = f"{each['title']} ({each['id']}; idle, active 2h ago)"
        assert label in refused.value.message
    assert refused.value.hint


def test_a_name_means_the_only_session_that_has_not_ended() -> None:
    ended = session("0000000000000005", "builder", "stopped")
    assert choose([ended, ONE], "builder") is ONE
    assert choose([ended], "builder") is ended


def test_what_cannot_be_undone_needs_a_whole_unambiguous_name() -> None:
    assert choose(ALL, "about builder", is_exact=True) is ONE
    with pytest.raises(NotFound):
        choose(ALL, "about b", is_exact=True)
    ended = session("0000000000000005", "builder", "stopped")
    with pytest.raises(SessionUnclear):
        choose([ended, ONE], "builder", is_exact=True)


def test_a_misspelled_name_gets_a_suggestion() -> None:
    with pytest.raises(NotFound) as refused:
        choose(ALL, "about bilder")
    assert refused.value.hint.startswith("did you mean about builder (66a8c9ee00000001)? ")


def test_a_long_list_of_candidates_is_cut_and_counted() -> None:
    many = [session(f"{number:016x}", "worker") for number in range(25)]
    with pytest.raises(SessionUnclear, match=r"25 sessions: .* and 15 more"):
        choose(many, "worker")


@pytest.mark.parametrize(("text", "hint"), [("34", "at least 4"), ("nobody", "sm status")])
def test_a_text_that_means_no_session_says_how_to_find_one(text: str, hint: str) -> None:
    with pytest.raises(NotFound) as refused:
        choose(ALL, text)
    assert hint in refused.value.hint


def test_an_empty_text_means_no_session() -> None:
    with pytest.raises(NotFound, match="there is no session ''"):
        choose(ALL, "")


def test_a_status_is_shown_with_its_age() -> None:
    session = {"agent_status_text": "reads\nthe log", "agent_status_at": "2026-11-15T11:58:00Z"}
    now = datetime(2026, 11, 15, 12, tzinfo=UTC)
    assert status(cast(SessionJson, session), now) == '"reads the log" (2m ago)'
    # The server's clock arrives in whole seconds, so a status can be ahead of it.
    ahead = {**session, "agent_status_at": "2026-11-15T12:00:00.900Z"}
    assert status(cast(SessionJson, ahead), now) == '"reads the log" (0s ago)'
    silent = {"agent_status_text": None, "agent_status_at": None}
    assert status(cast(SessionJson, silent), now) == "(no status)"


def test_an_agents_text_cannot_control_the_terminal() -> None:
    assert plain("a\x1b[2J\nb\x07") == "a b"
    assert plain("abcdef", 4) == "abc…"


@pytest.mark.parametrize(
    "error", [SessionNotFound("s"), NotYours("s"), SessionStopped("s"), CannotReport("s")]
)
def test_a_hint_of_the_server_names_commands_instead_of_calls(error: NaviError) -> None:
    assert "/" in error.hint
    hint = in_sm_words(error.hint)
    assert "sm " in hint
    assert "/" not in hint


def test_a_blank_status_is_refused_with_a_status_to_report() -> None:
    refused = sm("status", "", NAVI_SESSION_ID="0123456789abcdef")
    assert refused.returncode == 2
    assert "the status is blank" in refused.stderr
    assert 'sm status "running the tests"' in refused.stderr
