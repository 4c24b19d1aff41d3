"""What a session is called."""

from __future__ import annotations

import pytest

from navi.memory.ingest.derived.titles import (
    LONGEST,
    best_of,
    clean,
    hint_of_call,
    hint_of_messages,
)

COMMAND = "<command-message>review</command-message>\n<command-name>/review</command-name>"
REMINDER = "<system-reminder>Use the tools.</system-reminder>"


def title(*messages: tuple[str, str | None]) -> str | None:
    return best_of([hint_of_messages((role, content, None) for role, content in messages)])


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([("user", "Fix the login\nand more")], "Fix the login"),
        ([("user", "\n\n  Fix   the\tlogin  \n")], "Fix the login"),
        ([("user", "\x1b[31mred\x1b[0m \x07bell\x00")], "red bell"),
        ([("user", "```\ncode\n```")], "code"),
        ([("user", "🌙")], "🌙"),
        ([("assistant", "Hello"), ("user", "Fix it")], "Fix it"),
        ([("user", REMINDER), ("user", "Fix it")], "Fix it"),
        ([("user", f"{REMINDER}\nFix it")], "Fix it"),
        ([("user", "<div>is mine</div>")], "<div>is mine</div>"),
        ([("user", "# AGENTS.md instructions for /p\n…"), ("user", "Fix it")], "Fix it"),
        ([("user", "[Request interrupted by user]"), ("assistant", "I stop.")], "I stop."),
        ([("user", "Warmup"), ("assistant", "ok")], "ok"),
        ([("user", "# Context\n## My request for Codex:\nFix it")], "Fix it"),
        ([("system", COMMAND), ("user", "Fix it")], "Fix it"),
        ([("system", COMMAND), ("assistant", "Reviewed.")], "/review"),
        ([("system", f"{COMMAND}<command-args>all of it</command-args>")], "/review all of it"),
        ([("system", "<bash-input>ls -l</bash-input>")], "! ls -l"),
        ([("system", "API Error: 529")], "API Error: 529"),
        ([("system", REMINDER)], None),
        ([("user", None)], None),
        ([], None),
    ],
)
def test_a_title_is_the_first_line_that_a_person_wrote_else_the_next_best(
    messages: list[tuple[str, str | None]], expected: str | None
) -> None:
    assert title(*messages) == expected


def test_what_was_thought_or_done_serves_if_nothing_was_said() -> None:
    assert best_of([hint_of_messages([("assistant", None, "Hm.\nWell")])]) == "Hm."
    assert best_of([None, hint_of_call("Bash", "ls\n-l")]) == "Bash: ls -l"
    assert best_of([hint_of_call("Read", None)]) == "Read"


def test_a_long_title_is_cut_at_a_space() -> None:
    title = clean("word " * 100) or ""
    assert len(title) <= LONGEST
    assert title.endswith("word…")
    assert len(clean("x" * 500) or "") == LONGEST
    assert clean(" \n\x00 ") is None
