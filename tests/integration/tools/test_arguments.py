from __future__ import annotations

import math
from typing import Any

import pytest

from navi.base.errors import InvalidInput
from navi.live.model.tool import Tool, ToolContext
from navi.live.tools.arguments import Arguments
from navi.live.tools.files.filesystem import Filesystem
from navi.live.tools.processes.terminal import Terminal
from navi.live.tools.web.http_request import HttpRequest

TOOLS: list[Tool] = [Filesystem(), Terminal(), HttpRequest()]


def given(**values: Any) -> Arguments:
    return Arguments(values, {"properties": dict.fromkeys(["path", "limit", "force", "headers"])})


def test_a_missing_argument_is_refused_by_its_name() -> None:
    with pytest.raises(InvalidInput, match="path is missing"):
        given().text("path")


def test_null_counts_as_not_given() -> None:
    assert given(path=None).text("path", "here") == "here"
    with pytest.raises(InvalidInput, match="path is missing"):
        given(path=None).text("path")


def test_an_unknown_argument_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="unknown argument 'file'") as refusal:
        given(file="a")
    assert refusal.value.hint == "the arguments are path, limit, force, headers"


def test_an_unknown_choice_is_refused_with_the_possible_ones() -> None:
    with pytest.raises(InvalidInput, match="unknown path 'c'") as refusal:
        given(path="c").choice("path", ["a", "b"])
    assert refusal.value.hint == "use one of a, b"


def test_an_empty_text_is_a_text_but_not_a_line() -> None:
    assert given(path="").text("path") == ""
    with pytest.raises(InvalidInput, match="path is blank"):
        given(path=" ").line("path")


def test_a_line_with_a_nul_character_is_refused() -> None:
    with pytest.raises(InvalidInput, match="NUL"):
        given(path="a\0b").line("path")


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not valid Unicode at character 1"):
        given(path="a\ud800").text("path")


@pytest.mark.parametrize("value", ["3", 3.5, True, [3]])
def test_what_is_no_whole_number_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="limit is of type"):
        given(limit=value).whole_number("limit", 1, minimum=1)


def test_a_whole_number_may_be_written_as_a_float() -> None:
    assert given(limit=10.0).whole_number("limit", 1, minimum=1) == 10


def test_a_number_below_the_minimum_is_refused() -> None:
    with pytest.raises(InvalidInput, match="limit is 0"):
        given(limit=0).whole_number("limit", 1, minimum=1)


@pytest.mark.parametrize("value", [0, -1, 11, math.nan, math.inf])
def test_seconds_out_of_range_are_refused(value: float) -> None:
    with pytest.raises(InvalidInput, match="limit is") as refusal:
        given(limit=value).seconds("limit", 5, maximum=10)
    assert "at most 10" in refusal.value.hint


def test_seconds_of_another_type_are_refused() -> None:
    with pytest.raises(InvalidInput, match="limit is of type str"):
        given(limit="5").seconds("limit", 5, maximum=10)


def test_a_flag_is_only_true_or_false() -> None:
    assert given(force=True).flag("force", False) is True
    with pytest.raises(InvalidInput, match="force is of type str"):
        given(force="yes").flag("force", False)


def test_text_pairs_hold_texts_only() -> None:
    assert given(headers={"a": "b"}).text_pairs("headers") == {"a": "b"}
    assert given().text_pairs("headers") == {}
    with pytest.raises(InvalidInput, match=r"headers\.a is of type int"):
        given(headers={"a": 1}).text_pairs("headers")
    with pytest.raises(InvalidInput, match="headers is of type list"):
        given(headers=["a"]).text_pairs("headers")


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
async def test_every_tool_refuses_what_its_schema_does_not_name(
    tool: Tool, context: ToolContext
) -> None:
    assert tool.parameters["additionalProperties"] is False
    assert set(tool.parameters["required"]) <= set(tool.parameters["properties"])
    with pytest.raises(InvalidInput, match="unknown argument 'surprise'"):
        await tool.run(context, {"surprise": 1})


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
async def test_every_tool_refuses_a_call_without_its_required_argument(
    tool: Tool, context: ToolContext
) -> None:
    with pytest.raises(InvalidInput, match=f"{tool.parameters['required'][0]} is missing"):
        await tool.run(context, {})
