"""What two sessions have in common, and what only one has."""

from __future__ import annotations

from dataclasses import replace

from navi.memory.overview.session_comparison import Overlap, compare, comparison_json, overlap
from navi.memory.overview.session_profile import Profile

EMPTY = Profile(
    id="a",
    source="codex",
    title=None,
    project="/srv/shop",
    model="gpt-5",
    started_at=None,
    duration_seconds=None,
    message_count=0,
    tool_count=0,
    tokens={"input_tokens": 1},
    cost_usd=None,
    has_unpriced=False,
    prompts=(),
    commands=(),
    files_read=(),
    files_changed=(),
)


def test_texts_are_common_even_if_their_spaces_differ() -> None:
    expected = Overlap(only_first=("a",), only_second=("d",), both=("b  c", "e"))
    assert overlap(["b  c", "a", "e"], ["d", "e", "b\nc"]) == expected


def test_a_text_is_counted_once_and_keeps_its_place() -> None:
    assert overlap(["x", "y", " x "], []) == Overlap(("x", "y"), (), ())


def test_tools_are_compared_by_use() -> None:
    first = replace(EMPTY, tools={"Bash": 3, "Read": 1})
    second = replace(EMPTY, tools={"Read": 1, "Edit": 1})
    assert compare(first, second).tools == (("Bash", 3, 0), ("Read", 1, 1), ("Edit", 0, 1))


def test_secrets_are_masked_but_compared_as_they_are() -> None:
    one, other = (f"curl -H 'Authorization: Bearer {letter * 20}1'" for letter in "ab")
    comparison = compare(replace(EMPTY, commands=(one,)), replace(EMPTY, commands=(other,)))
    commands = comparison_json(comparison)["commands"]
    assert commands["both"] == []
    masked = "curl -H 'Authorization: Bearer [masked: authorization]'"
    assert commands["only_first"] == commands["only_second"] == [masked]
