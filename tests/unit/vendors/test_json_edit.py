"""JSON text is edited with as few changes as its new value needs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navi.vendors.json_edit import edit, parse

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
objects = st.dictionaries(st.text("abc", max_size=1), values, max_size=4)


def replace(text: str, new: dict[str, Any]) -> str:
    def change(old: dict[str, Any]) -> None:
        old.clear()
        old.update(new)

    return edit(text, change)


@settings(max_examples=300, deadline=None)
@given(objects, objects, st.sampled_from([None, 0, 1, 4, "\t"]), st.sampled_from(["\n", "\r\n"]))
def test_any_object_becomes_any_other_and_back(
    old: dict[str, Any], new: dict[str, Any], indent: Any, newline: str
) -> None:
    text = json.dumps(old, indent=indent).replace("\n", newline)
    changed = replace(text, new)
    assert parse(changed) == new
    assert parse(replace(changed, old)) == old
    assert replace(changed, new) == changed


TEXT = """\
{
    "a" : 1.50,
    "list": [1 , 2,3],
    "hooks": {
        "Stop": [
            {"hooks": [{"command": "theirs", "timeout": 1e1}]}
        ]
    },
  "last": "\\u00fc" }"""


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        (lambda s: s.update(a=2), "1.50", "2"),
        (lambda s: s.pop("a"), '"a" : 1.50,\n    ', ""),
        (lambda s: s.pop("last"), ',\n  "last": "\\u00fc"', ""),
        (lambda s: s.pop("list"), ',\n    "list": [1 , 2,3]', ""),
        (lambda s: s["list"].remove(1), "[1 , 2,3]", "[2,3]"),
        (lambda s: s["list"].remove(2), "[1 , 2,3]", "[1,3]"),
        (lambda s: s["list"].remove(3), "[1 , 2,3]", "[1 , 2]"),
        (lambda s: s["list"].append(4), "[1 , 2,3]", "[1 , 2,3,4]"),
        (lambda s: s["list"].insert(0, 0), "[1 , 2,3]", "[0,1 , 2,3]"),
        (lambda s: s["list"].clear(), "[1 , 2,3]", "[]"),
        (lambda s: s["hooks"]["Stop"][0]["hooks"][0].update(timeout=9), "1e1", "9"),
        (
            lambda s: s["hooks"]["Stop"].append({"x": [1]}),
            "1e1}]}\n",
            """1e1}]},
            {
                "x": [
                    1
                ]
            }
""",
        ),
        (
            lambda s: s["hooks"]["Stop"][0]["hooks"].append({"x": [1]}),
            "1e1}]",
            '1e1}, {"x": [1]}]',
        ),
        (lambda s: s.update(b=None), '"\\u00fc" }', '"\\u00fc",\n  "b": null }'),
    ],
)
def test_only_what_changes_is_written(change: Any, old: str, new: str) -> None:
    assert TEXT.count(old) == 1
    assert edit(TEXT, change) == TEXT.replace(old, new)


def test_a_name_that_is_used_twice_is_changed_where_it_is_read() -> None:
    text = '{"a": 1, "b": 2, "a": 3}'
    assert edit(text, lambda settings: settings.update(a=4)) == '{"a": 1, "b": 2, "a": 4}'
    assert edit(text, lambda settings: settings.pop("a")) == '{"b": 2}'


@pytest.mark.parametrize("text", ["{", "[]", "// no\n{}", "1", '{"a": NaN}', "[" * 100_000])
def test_a_text_that_is_not_a_json_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="it is "):
        edit(text, lambda settings: settings.update(a=1))
