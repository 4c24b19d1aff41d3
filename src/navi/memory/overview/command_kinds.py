"""The shell commands worth mentioning: commits and runs of tests."""

from __future__ import annotations

import re
from enum import StrEnum

LONGEST_SEARCHED = 4_000
"""How many characters at the start of a command are searched: the rest is an inline script."""

# Wrappers in front of a command, such as `sudo`, `CI=1` or `uv run`.
_WRAPPER = (
    r"(?:\w+=[^\s'\"]*|sudo|env|time|npx|timeout [\w.]+|(?:uv|poetry|pipenv) run|bundle exec"
    r"|python3? -m)[ \t]+"
)
_START = rf"(?:^|[;&|(\n])[ \t]*(?:{_WRAPPER})*(?:[^\s'\";&|()]*/)?"
COMMIT = _START + r"git(?: -[Cc] \S+)* (?:commit|merge|tag|push|revert|cherry-pick)\b"
TEST = _START + (
    r"(?:pytest|tox|nox|unittest|jest|vitest|mocha|rspec|phpunit|ctest|playwright test"
    r"|(?:npm|pnpm|yarn|bun)(?: run)? test|(?:cargo|go|dotnet|swift|mix|deno) (?:test|nextest)"
    r"|make (?:test|check)|mvn (?:test|verify)|gradlew? (?:test|check))\b"
)
_COMMIT, _TEST = re.compile(COMMIT), re.compile(TEST)
_MESSAGE = re.compile(
    r"""\s-(?:-message|[a-zA-Z]*m)[ =]*(?:"\$\(cat <<-?\s*['"]?\w+['"]?\n(?P<document>[^\n]+)"""
    r"""|"(?P<double>[^"\n]+)|'(?P<single>[^'\n]+)|(?P<word>[^\s'"-]\S*))"""
)
_FAILED_TESTS = re.compile(r"\b[1-9]\d* (?:failed|failing|failures?|errors?)\b", re.IGNORECASE)


class CommandKind(StrEnum):
    COMMIT = "commit"
    TEST = "test"


def kind_of(command: str) -> CommandKind | None:
    """The kind of a command worth mentioning; None for all others."""
    start = command[:LONGEST_SEARCHED]
    if _COMMIT.search(start):
        return CommandKind.COMMIT
    return CommandKind.TEST if _TEST.search(start) else None


def commit_message(command: str) -> str | None:
    """The first line of the message in a `git commit` command."""
    match = _MESSAGE.search(command[:LONGEST_SEARCHED])
    return None if match is None else next(filter(None, match.groups())).strip()


def have_tests_failed(is_error: bool | None, excerpt: str | None) -> bool | None:
    """Whether a run of tests failed; None if unknown."""
    # The exit code of a pipe is that of its last command, so the output is checked, too.
    if excerpt and _FAILED_TESTS.search(excerpt):
        return True
    return is_error
