"""JSON without Python's own module is the same as with it."""

from __future__ import annotations

import json
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navi.domain import plain_json

TEXTS = st.text(st.characters(), max_size=20)  # with halves of surrogate pairs
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(TEXTS, inner, max_size=4)
        | st.dictionaries(st.integers() | st.none(), inner, max_size=2)
        | st.tuples(inner)
    ),
    max_leaves=20,
)


class Level(IntEnum):
    LOW = 1


@given(VALUES)
def test_it_is_written_the_same(value: Any) -> None:
    assert plain_json.dumps(value) == json.dumps(value, indent=2, ensure_ascii=False)


@pytest.mark.parametrize("value", [Level.LOW, [Level.LOW], {"a": ()}, {True: 1, 2.5: 2}])
def test_what_is_out_of_the_ordinary_is_written_the_same(value: Any) -> None:
    assert plain_json.dumps(value) == json.dumps(value, indent=2, ensure_ascii=False)


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError):
        plain_json.dumps([{1, 2}])


@given(VALUES, st.sampled_from([None, 1]), st.booleans(), st.sampled_from(["", " ", "\n"]))
def test_it_is_read_the_same(value: Any, indent: int | None, is_ascii: bool, blank: str) -> None:
    text = blank + json.dumps(value, indent=indent, ensure_ascii=is_ascii) + blank
    assert repr(plain_json.loads(text)) == repr(json.loads(text))  # repr: NaN is not NaN


@pytest.mark.parametrize("text", ["", " ", "{", "[1,]", "{} {}", "nul", '"\n"', '{"a" 1}', "'a'"])
def test_what_can_not_be_read_fails_the_same(text: str) -> None:
    with pytest.raises(json.JSONDecodeError) as expected:
        json.loads(text)
    with pytest.raises(json.JSONDecodeError) as failed:
        plain_json.loads(text)
    assert str(failed.value) == str(expected.value)


def test_another_python_has_the_module_do_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_json, "_scan", None)
    value = {"a": [1, "ü", None]}
    assert plain_json.loads(plain_json.dumps(value)) == value
