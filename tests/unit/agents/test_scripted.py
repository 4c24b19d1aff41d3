"""The script language: what a message means."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navi.live.agents.builtin.scripted_model import (
    LONGEST_SLEEP_SECONDS,
    MAX_DELTAS_PER_TEXT,
    Call,
    Fail,
    Limit,
    Loop,
    Say,
    Sleep,
    Step,
    Think,
    deltas,
    parse,
    steps_of_response,
)

PIECES = ["[[", "]]", "[", "]", "say", "tool", "sleep", "loop", ":", "|", "{", "}", '"', " ", "a"]


def test_each_kind_of_step_is_understood():
    script = "[[think: t]] [[say: s]] [[sleep: 0.5]] [[bash: ls -l]] [[fail: f]] [[limit: 90]]"
    script += "[[loop]]"
    assert parse(script) == [
        Think("t"),
        Say("s"),
        Sleep(0.5),
        Call("terminal", {"command": "ls -l"}),
        Fail("f"),
        Limit(90),
        Loop(),
    ]


def test_text_around_the_steps_is_ignored():
    assert parse("please [[say: one]] and then [[say: two]], thanks") == [Say("one"), Say("two")]


def test_a_message_without_steps_is_not_a_script():
    assert parse("a [[link]] and [[other: thing]], then [[say: but it never ends") == []


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        ('[[tool: x | {"a": [[1]]}]]', {"a": [[1]]}),
        ('[[tool: x | {"a": "]] [[say: no]]"}]]', {"a": "]] [[say: no]]"}),
        ('[[tool:x|{"a":{"b":[[[2]]]}}]]', {"a": {"b": [[[2]]]}}),
        ("[[tool: x | {} ]]", {}),
        ("[[tool: x]]", {}),
    ],
)
def test_the_arguments_of_a_tool_are_read_as_json(script, arguments):
    assert parse(f"{script} [[say: after]]") == [Call("x", arguments), Say("after")]


@pytest.mark.parametrize(
    "argument", ["x | {broken}", "x | [1]", "x | {} and more", 'x | {"a": NaN}', "", "| {}", "x y"]
)
def test_a_tool_step_that_makes_no_sense_is_answered_with_what_is_wrong(argument):
    first, second = parse(f"[[tool: {argument}]] [[say: after]]")
    assert isinstance(first, Say)
    assert "JSON object" in first.text
    assert second == Say("after")


@pytest.mark.parametrize("word", ["sleep", "limit"])
@pytest.mark.parametrize("seconds", ["soon", "-1", "nan", ""])
def test_a_step_without_a_number_of_seconds_is_answered_with_what_is_wrong(seconds, word):
    [step] = parse(f"[[{word}: {seconds}]]")
    assert isinstance(step, Say)
    assert "number of seconds" in step.text


def test_an_endless_sleep_is_cut_to_a_day():
    assert parse("[[sleep: inf]]") == [Sleep(LONGEST_SLEEP_SECONDS)]


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("[[say: list[0]]]", "list[0]"),
        ("[[say: [1, [2]]]]", "[1, [2]]"),
        ("[[say: [[ -f x ]] && cat x]]", "[[ -f x ]] && cat x"),
        ("[[say: tell them '[[say: hi]]']]", "tell them '[[say: hi]]'"),
        ("[[say: a [[ b]]", "a [[ b"),
        ("[[ say : spaces  ]]", "spaces"),
        ("[[say: two\nlines]]", "two\nlines"),
        ("[[say]]", ""),
    ],
)
def test_brackets_inside_a_step_belong_to_its_text(script, text):
    assert parse(f"{script} [[think: after]]") == [Say(text), Think("after")]


def test_each_tool_call_ends_a_response():
    one, two = Call("one", {}), Call("two", {})
    steps: list[Step] = [Say("a"), one, Say("b"), two, Say("c")]
    responses = [steps_of_response(steps, calls) for calls in range(3)]
    assert responses == [[Say("a"), one], [Say("b"), two], [Say("c")]]


def test_a_loop_repeats_itself_but_not_what_stands_before_it():
    steps: list[Step] = [Call("one", {}), Say("a"), Loop(), Say("never")]
    responses = [steps_of_response(steps, calls) for calls in range(1, 4)]
    assert responses == [[Say("a"), Loop()], [Loop()], [Loop()]]


@given(st.text())
def test_deltas_joined_are_the_text(text):
    assert "".join(deltas(text)) == text


def test_deltas_are_words():
    assert deltas("one two  three\n") == ["one ", "two  ", "three\n"]


def test_a_huge_text_does_not_become_endlessly_many_deltas():
    assert len(deltas("word " * 100_000)) <= MAX_DELTAS_PER_TEXT


@given(st.lists(st.sampled_from(PIECES)).map("".join) | st.text())
def test_no_message_breaks_the_parser(message):
    for step in parse(message):
        assert isinstance(step, Think | Say | Sleep | Call | Fail | Loop)


@given(st.text().filter(lambda text: "[[" not in text))
def test_plain_text_is_never_a_script(message):
    assert parse(message) == []


@given(
    st.dictionaries(
        st.text(),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=5,
        ),
        max_size=3,
    )
)
def test_any_json_object_reaches_the_tool_as_it_was_written(arguments):
    script = f"[[tool: x | {json.dumps(arguments)}]] [[say: after]]"
    assert parse(script) == [Call("x", arguments), Say("after")]


def test_a_megabyte_of_brackets_is_read_in_one_pass():
    # Quadratic time would mean hours here, so the test would run into its timeout.
    assert parse("[[say: " * 140_000) == []
    assert len(parse("[[say: [[ ]]" * 80_000)) == 80_000
    assert len(parse("[[tool: x | " * 80_000 + "]]" * 80_000)) == 1
