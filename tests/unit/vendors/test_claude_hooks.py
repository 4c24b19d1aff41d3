"""Claude Code's hooks: which of them an installed version gets, and how a dialog is answered."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from navi.live.model.question import (
    Decision,
    NewQuestion,
    Question,
    QuestionAnswer,
    QuestionKind,
    QuestionState,
)
from navi.vendors.claude_code.hooks import (
    PANE_HOOKS,
    SINCE,
    TIMEOUT_SECONDS,
    ClaudeCodeHooks,
)
from navi.vendors.claude_code.settings import ClaudeCodeSettings
from navi.vendors.hooks import Hook
from navi.vendors.installed_version import installed_version, known_events

NOW = datetime(2026, 11, 18, tzinfo=UTC)
DIALECT = ClaudeCodeHooks()
RULE = {"type": "addRules", "behavior": "allow", "rules": [{"toolName": "Bash"}]}
ENTRY = {"question": "Which?", "options": [{"label": "Red"}, {"label": "Blue"}]}
ALWAYS_THERE = [each for each in DIALECT.events if each not in SINCE]


@pytest.mark.parametrize(
    ("version", "added"),
    [
        (None, []),
        ((1, 0, 128), []),
        ((2, 0, 45), []),
        ((2, 1, 77), []),
        ((2, 1, 78), ["StopFailure"]),
        ((2, 1, 109), ["StopFailure"]),
        ((2, 1, 110), ["PermissionRequest", "StopFailure"]),
        ((2, 1, 325), ["PermissionRequest", "StopFailure"]),
        ((3, 0, 0), ["PermissionRequest", "StopFailure"]),
    ],
)
def test_a_version_gets_the_hooks_that_it_knows(
    version: tuple[int, int, int] | None, added: list[str]
) -> None:
    events = known_events(DIALECT.events, SINCE, version)
    assert [each for each in events if each in SINCE] == added
    assert [each for each in events if each not in SINCE] == ALWAYS_THERE


def test_only_a_hook_that_waits_for_a_person_may_take_long() -> None:
    assert set(TIMEOUT_SECONDS) == {"PermissionRequest"}
    assert set(TIMEOUT_SECONDS) <= set(DIALECT.events)
    assert set(TIMEOUT_SECONDS) <= set(PANE_HOOKS)


def program(folder: Path, text: str) -> Path:
    file = folder / "claude"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("echo '2.1.325 (Claude Code)'", (2, 1, 325)),
        ("echo 'claude 1.0.2-beta'", (1, 0, 2)),
        ("echo hello", None),
        ("exit 3", None),
    ],
)
def test_the_installed_version_is_what_the_program_says(
    tmp_path: Path, text: str, version: tuple[int, int, int] | None
) -> None:
    program(tmp_path, text)
    assert installed_version("claude", str(tmp_path)) == version


def test_without_the_program_no_version_is_known(tmp_path: Path) -> None:
    assert installed_version("claude", str(tmp_path)) is None


def test_an_update_of_the_program_is_noticed(tmp_path: Path) -> None:
    program(tmp_path, "echo 2.1.1")
    assert installed_version("claude", str(tmp_path)) == (2, 1, 1)
    program(tmp_path, "echo 2.1.200")
    assert installed_version("claude", str(tmp_path)) == (2, 1, 200)


def test_hooks_that_are_too_new_for_the_installed_version_are_a_defect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    settings = ClaudeCodeSettings()
    program(tmp_path, "echo 2.1.325")
    for change in settings.plan_installation("http://127.0.0.1:8420"):
        change.write()
    assert settings.defects() == []

    program(tmp_path, "echo 2.1.80 older")
    [defect] = settings.defects()
    assert defect == "Claude Code 2.1.80 is too old for Navi's hook for PermissionRequest"

    for change in settings.plan_installation("http://127.0.0.1:8420"):
        change.write()
    assert settings.defects() == []


def hook(**fields: Any) -> Hook:
    values = {
        "hook_event_name": "PermissionRequest",
        "session_id": "s",
        "tool_name": "Bash",
        "tool_input": {"command": "touch x"},
        "permission_suggestions": [RULE],
    }
    return DIALECT.hook_class.model_validate({**values, **fields})


def closed(new: NewQuestion, answer: QuestionAnswer | None) -> Question:
    question = Question.create(new, "s", None, NOW, None)
    return question.closed(QuestionState.ANSWERED, answer, "me", "sm", NOW)


def decision(answer: QuestionAnswer) -> Any:
    [new] = DIALECT.questions(hook(), "terminal-1")
    output = DIALECT.decision_answer(hook(), [closed(new, answer)])["hookSpecificOutput"]
    assert output["hookEventName"] == "PermissionRequest"
    return output["decision"]


def test_a_dialog_asks_for_the_call_with_its_input() -> None:
    [new] = DIALECT.questions(hook(), "terminal-1")
    assert (new.kind, new.call_id) == (QuestionKind.PERMISSION, "terminal-1")
    assert (new.tool_name, new.tool_input) == ("Bash", {"command": "touch x"})
    assert new.takes_updated_input


@pytest.mark.parametrize(
    "fields",
    [
        {"hook_event_name": "PostToolUse"},
        {"agent_id": "a sub-agent"},
        {"tool_name": "ExitPlanMode", "tool_input": {}},
        {"tool_name": None},
        {"tool_input": None},
        {"tool_input": ["no object"]},
        {"tool_input": {"command": "printf '\x00'"}},
        {"tool_input": {"command": "\ud800"}},
    ],
)
def test_in_any_doubt_only_the_dialog_itself_decides(fields: dict[str, Any]) -> None:
    assert DIALECT.questions(hook(**fields), "terminal-1") == ()


def test_the_decision_is_the_persons_and_nothing_else() -> None:
    assert decision(QuestionAnswer(Decision.ALLOW)) == {"behavior": "allow"}
    changed = QuestionAnswer(Decision.ALLOW, updated_input={"command": "ls"})
    assert decision(changed) == {"behavior": "allow", "updatedInput": {"command": "ls"}}
    always = decision(QuestionAnswer(Decision.ALLOW_ALWAYS))
    assert always == {"behavior": "allow", "updatedPermissions": [RULE]}
    denied = decision(QuestionAnswer(Decision.DENY, "not today"))
    assert denied == {"behavior": "deny", "message": "not today"}


def test_choices_are_answered_together() -> None:
    entries = [ENTRY, {**ENTRY, "question": "And then?"}]
    asks = hook(tool_name="AskUserQuestion", tool_input={"questions": entries})
    first, second = DIALECT.questions(asks, "terminal-1")
    answers = [
        closed(first, QuestionAnswer(Decision.CHOOSE, choices=("Blue",))),
        closed(second, QuestionAnswer(Decision.REPLY, "something else")),
    ]
    output = DIALECT.decision_answer(asks, answers)["hookSpecificOutput"]["decision"]
    assert output["behavior"] == "allow"
    assert output["updatedInput"]["questions"] == entries
    assert output["updatedInput"]["answers"] == {"Which?": "Blue", "And then?": "something else"}


def test_a_failure_is_reported_in_the_agents_words() -> None:
    failed = hook(
        hook_event_name="StopFailure", error="rate_limit", last_assistant_message="wait\nlonger"
    )
    assert DIALECT.report(failed, NOW).failure == "wait"
    assert DIALECT.report(hook(hook_event_name="Stop", error="x"), NOW).failure is None
