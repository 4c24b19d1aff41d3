from __future__ import annotations

import pytest

from navi.agents.tmux import draft_in

EMPTY = "\x1b[39m❯\xa0\x1b[7m \x1b[0m"
HINT = '❯\xa0\x1b[7mT\x1b[0m\x1b[2mry "edit this file"\x1b[0m'
CODEX_HINT = "\x1b[1m›\x1b[0m\x1b[39m\x1b[49m \x1b[2mAsk Codex to do anything"


@pytest.mark.parametrize(
    ("line", "mark", "draft"),
    [
        (EMPTY, "❯", ""),
        (HINT, "❯", ""),
        (CODEX_HINT, "›", ""),
        ("\x1b[39m❯\xa0half a thou\x1b[7m \x1b[0m", "❯", "half a thou"),
        ("\x1b[1m›\x1b[0m half a thou", "›", "half a thou"),
        ("  no prompt here", "❯", None),
    ],
)
def test_what_a_person_typed_is_told_from_hints(line: str, mark: str, draft: str | None) -> None:
    assert draft_in(["● something said", line, "  status line"], mark) == draft


def test_the_last_prompt_on_the_screen_counts() -> None:
    assert draft_in(["❯\xa0an earlier message", "● its answer", EMPTY], "❯") == ""
