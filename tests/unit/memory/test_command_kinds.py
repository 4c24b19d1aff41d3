"""Which commands are worth mentioning, and what came of them."""

from __future__ import annotations

import pytest

from navi.memory.overview.command_kinds import (
    CommandKind,
    commit_message,
    have_tests_failed,
    kind_of,
)


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q",
        "cd app && .venv/bin/pytest tests",
        "CI=1 npm test",
        "uv run pytest -x | tail -5",
        "python -m unittest",
        "make lint; make test",
        "cargo test --all",
        "timeout 60 go test ./...",
        "(cd web\nnpx vitest run)",
    ],
)
def test_runs_of_tests_are_recognised(command: str) -> None:
    assert kind_of(command) is CommandKind.TEST


@pytest.mark.parametrize(
    "command", ["git commit -m x", "git -C app push", "git add -A && git commit -qm 'x'"]
)
def test_what_changes_the_history_of_a_repository_is_recognised(command: str) -> None:
    assert kind_of(command) is CommandKind.COMMIT


@pytest.mark.parametrize(
    "command", ["ls", "git log", "cat pytest.ini", "echo 'npm test'", "grep -r pytest .", ""]
)
def test_other_commands_are_not_worth_mentioning(command: str) -> None:
    assert kind_of(command) is None


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("git commit -m 'cart: add tax once'", "cart: add tax once"),
        ('git commit -qam "fix it" && git push', "fix it"),
        ("git commit --message=short", "short"),
        ("git commit -m \"$(cat <<'EOF'\ncart: tax\n\nmore\nEOF\n)\"", "cart: tax"),
        ("git commit --amend --no-edit", None),
        ("git push origin main", None),
    ],
)
def test_the_message_of_a_commit_is_its_first_line(command: str, message: str | None) -> None:
    assert commit_message(command) == message


@pytest.mark.parametrize(
    ("is_error", "output", "expected"),
    [
        (True, "", True),
        (False, "4 passed in 0.1s", False),
        (None, "4 passed", None),
        (False, "1 failed, 3 passed", True),
        (False, "0 failed, 3 passed", False),
        (None, "Tests: 2 FAILED", True),
    ],
)
def test_tests_fail_by_their_exit_code_or_their_own_words(
    is_error: bool | None, output: str, expected: bool | None
) -> None:
    assert have_tests_failed(is_error, output) is expected
