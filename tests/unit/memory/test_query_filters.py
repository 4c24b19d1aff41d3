"""Filters are taken out of a query, and nothing else is."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from navi.base.errors import InvalidInput
from navi.live.model.input import Origin
from navi.live.model.turn import Outcome
from navi.memory.read.full_text import FAILED, FAILURES
from navi.memory.read.query import read_query
from navi.memory.read.query_filters import CHOICES, TypedFilter, combined, read_filters
from navi.memory.read.ranking import is_look_up

NOW = datetime(2026, 11, 19, 12, tzinfo=UTC)


def values(query: str) -> dict[str, Any]:
    return {name: filter.value for name, filter in read_filters(query, NOW).filters.items()}


@pytest.mark.parametrize(
    ("query", "words", "filters"),
    [
        ("auth agent:codex bug", "auth bug", {"source": "codex"}),
        ("agent:claude-code x", "x", {"source": "claude_code"}),
        ("Agent:Codex x", "x", {"source": "codex"}),
        ("source:codex x", "x", {"source": "codex"}),
        ("x project:shop", "x", {"project": "shop"}),
        ('x project:"my shop" y', "x y", {"project": "my shop"}),
        ('x project:"my shop', "x", {"project": "my shop"}),
        ('project:"my shop"x', "x", {"project": "my shop"}),
        ('x project:my" shop', "x shop", {"project": 'my"'}),
        ("file:src/auth.ts", "", {"file": "src/auth.ts"}),
        (r"x file:C:\src\auth.ts", "x", {"file": r"C:\src\auth.ts"}),
        ("x file:/srv/a.ts tool:Bash", "x", {"file": "/srv/a.ts", "tool": "Bash"}),
        ("x role:USER session:712f", "x", {"role": "user", "session": "712f"}),
        ('"red apple" agent:codex -"old tree"', '"red apple" -"old tree"', {"source": "codex"}),
        ("x agent:codex agent:Codex", "x", {"source": "codex"}),
        ("x origin:recall outcome:failed", "x", {"origin": "recall", "outcome": "failed"}),
    ],
)
def test_a_key_with_a_value_is_a_filter(query: str, words: str, filters: dict[str, Any]) -> None:
    assert read_filters(query, NOW).words == words
    assert values(query) == filters


@pytest.mark.parametrize(
    "query",
    [
        "",
        "foo:bar",
        "http://x",
        "see https://example.org/file:x",
        "std::vector",
        "tool::run session::new",
        "a::before",
        r"C:\path",
        "12:30",
        "file:///srv/a.ts",
        "error in file: auth.ts",
        "the agent: codex",
        "role:",
        '"agent:codex"',
        'he said "in agent:codex and',
        "-agent:codex",
        "(agent:codex)",
        "my-file:x",
        "profile:x",
        "origins:recall my-outcome:failed",
        '{"role":"user"}',
        "agent：codex",
        "ſession:x",
        "a  b\n c",
    ],
)
def test_what_only_looks_like_a_filter_stays_as_it_is(query: str) -> None:
    assert read_filters(query, NOW) == (query, {})


@given(
    st.one_of(
        st.text(max_size=80),
        st.lists(
            st.sampled_from(
                [
                    '"',
                    " ",
                    "-",
                    ":",
                    "/",
                    "tool:",
                    "file:",
                    "project:",
                    "~",
                    "a",
                    "\n",
                    "é",
                    "\x00",
                    "\ud800",
                ]
            )
        ).map("".join),
    )
)
@example('"a"tool:x"b"')
def test_only_filters_are_missing_from_the_words(text: str) -> None:
    try:
        words, filters = read_filters(text, NOW)
    except InvalidInput:
        return
    assert read_filters(words, NOW) == (words, {})
    if not filters:
        assert words == text
    if not re.search("(tool|file|project):", text):
        assert not filters


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("after:2026-10-01", {"since": datetime(2026, 10, 1, tzinfo=UTC)}),
        ("since:2026-10-01", {"since": datetime(2026, 10, 1, tzinfo=UTC)}),
        ("before:2026-10-01", {"until": datetime(2026, 10, 1, tzinfo=UTC)}),
        ("until:2026-10-01", {"until": datetime(2026, 10, 2, tzinfo=UTC)}),
        ("after:7d", {"since": NOW - timedelta(days=7)}),
        ("before:10:30", {"until": datetime(2026, 11, 19, 10, 30, tzinfo=UTC)}),
        ('after:"yesterday 14:30"', {"since": datetime(2026, 11, 18, 14, 30, tzinfo=UTC)}),
    ],
)
def test_after_includes_its_day_and_before_does_not(query: str, expected: dict[str, Any]) -> None:
    assert values(query) == expected


@pytest.mark.parametrize(
    ("query", "message", "hint"),
    [
        ("agent:claude", "agent:claude is not an agent", "the agents are claude-code, codex"),
        ("role:boss", "role:boss is not a role", "user, assistant, system, for example role:user"),
        ("after:soon", "after:soon is not a time", "for example after:7d, after:yesterday or"),
        ("before:content-x", "before:content-x is not a time", '"before:content-x" is searched as'),
        ("file:.", "file:. is not a file", "for example file:src/auth.ts"),
        ("project:~\x00", "project:~\x00 is not a project", "for example project:shop"),
        ("file:~\x00", "file:~\x00 is not a file", "for example file:src/auth.ts"),
        ('project:""', "project: has no value", "for example project:shop"),
        ("agent:codex agent:navi", "agent:navi contradicts agent:codex", "leave one of them out"),
        ("before:7d until:8d", "until:8d contradicts before:7d", "leave one of them out"),
    ],
)
def test_a_filter_that_can_not_be_read_is_an_error_with_an_example(
    query: str, message: str, hint: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        read_filters(query, NOW)
    assert refusal.value.message == message
    assert hint in refusal.value.hint


def test_filters_beside_the_query_hold_as_well_unless_they_contradict_it() -> None:
    beside = {"source": None, "project": "shop", "since": NOW}
    filters = read_filters("agent:codex project:shop", NOW).filters
    assert combined(beside, filters) == {"source": "codex", "project": "shop", "since": NOW}
    a_moment_later = TypedFilter("after:0s", NOW + timedelta(milliseconds=20))
    assert combined(beside, {"since": a_moment_later})["since"] == a_moment_later.value
    with pytest.raises(InvalidInput, match="project:garden contradicts --project"):
        combined(beside, read_filters("project:garden", NOW).filters, "--{}")


def test_filters_do_not_make_a_search_a_look_up() -> None:
    words, _ = read_filters("login slow file:src/auth.ts project:/srv/my_shop", NOW)
    assert not is_look_up(read_query(words))


def test_origins_and_outcomes_are_those_of_turns() -> None:
    assert set(CHOICES["origin"]) == set(Origin)
    assert set(CHOICES["outcome"]) == {FAILED, *Outcome}
    assert set(FAILURES) < set(Outcome)


@pytest.mark.parametrize("filter", ["origin:alarm", "outcome:bad"])
def test_an_unknown_origin_or_outcome_is_answered_with_those_that_exist(filter: str) -> None:
    key = filter.partition(":")[0]
    with pytest.raises(InvalidInput, match=f"{filter} is not an {key}") as refusal:
        read_filters(filter, NOW)
    assert ", ".join(CHOICES[key]) in (refusal.value.hint or "")
