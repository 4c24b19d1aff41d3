"""The text that replaces the past."""

from __future__ import annotations

from navi.live.agents.builtin.context_summary import (
    LONGEST_CALL_TEXT,
    LONGEST_LINE,
    MAX_REQUESTS,
    digest,
    text_to_summarise,
)
from navi.live.model.message import ToolCall
from tests.unit.agents.messages import from_agent, from_user

PLENTY = 100_000


def test_a_digest_says_how_much_is_missing_and_what_was_asked():
    messages = [
        from_user(0, "fix the\nbuild"),
        from_agent(1, "fixed"),
        from_user(2, "now the tests"),
    ]
    text = digest(None, messages, PLENTY)
    assert text.startswith("Earlier messages no longer shown: 3.")
    assert "- fix the\n- now the tests" in text
    assert "fixed" not in text


def test_a_digest_keeps_what_an_earlier_one_knew():
    assert "the name is Ada" in digest("the name is Ada", [from_user(0, "hi")], PLENTY)


def test_a_digest_of_many_long_messages_stays_short():
    messages = [from_user(idx, f"{idx} " + "x" * 1000) for idx in range(1000)]
    text = digest(None, messages, PLENTY)
    assert len(text) < (MAX_REQUESTS + 2) * (LONGEST_LINE + 3)
    assert "- 999 " in text
    assert f"older requests left out: {1000 - MAX_REQUESTS}" in text


def test_a_digest_keeps_to_its_limit():
    assert len(digest("e" * 5000, [from_user(0, "q" * 5000)], 300)) < 350


def test_a_transcript_tells_who_said_and_did_what():
    call = ToolCall("a", "terminal", {"command": "ls"}, "x.py", is_error=False)
    failed = ToolCall("b", "terminal", {"command": "rm"}, "no", is_error=True)
    text = text_to_summarise(
        "before", [from_user(0, "look"), from_agent(1, "I look", call, failed)], PLENTY
    )
    for words in ("before", "[user]\nlook", "[assistant]\nI look", "'command': 'ls'"):
        assert words in text
    assert "returned: x.py" in text
    assert "failed: no" in text


def test_a_transcript_shortens_results_and_keeps_to_its_limit():
    call = ToolCall("a", "terminal", {"command": "c" * 9000}, "r" * 9000)
    assert len(text_to_summarise(None, [from_agent(1, "", call)], PLENTY)) < 3 * LONGEST_CALL_TEXT
    assert len(text_to_summarise(None, [from_user(0, "q" * 9000)], 500)) < 600
