from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pytest
from pydantic import BaseModel, Field

from navi.base.errors import InvalidInput
from navi.live.model.scheduling.automation_request import AutomationChange
from navi.live.model.scheduling.recall import CallType
from navi.live.model.scheduling.recall_request import RecallRequest
from navi.live.model.validation import STRICT, schema, validate


class Colour(StrEnum):
    """Not for models."""

    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    path: str
    colour: Colour | None = field(default=None, metadata={"strict": False})
    limit: float | None = field(default=None, metadata={"gt": 0, "le": 10})
    count: int | None = None
    force: bool = False


class Model(BaseModel):
    model_config = STRICT

    path: str
    colour: Colour | None = Field(None, strict=False)
    limit: float | None = Field(None, gt=0, le=10)
    count: int | None = None
    force: bool = False


BOTH = pytest.mark.parametrize("model", [Plain, Model])
FIELDS = "the fields are: path, colour, limit, count, force"


@BOTH
@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [
        ([], "this is not a JSON object", FIELDS),
        ({}, "path is missing", FIELDS),
        ({"paht": "a"}, "there is no field 'paht'", FIELDS),
        ({"path": None}, "path is null", "it must be text"),
        ({"path": 3}, "path is 3", "it must be text"),
        ({"path": "a", "colour": "green"}, "there is no colour 'green'", "one of: red, blue"),
        ({"path": "a", "colour": 3}, "there is no colour 3", "one of: red, blue"),
        ({"path": "a", "count": "3"}, "count is '3'", "it must be a whole number"),
        ({"path": "a", "count": 3.5}, "count is 3.5", "it must be a whole number"),
        ({"path": "a", "count": True}, "count is true", "it must be a whole number"),
        ({"path": "a", "count": [3]}, "count is a list", "it must be a whole number"),
        ({"path": "a", "count": {}}, "count is an object", "it must be a whole number"),
        ({"path": "a", "force": "yes"}, "force is 'yes'", "it must be true or false"),
        ({"path": "a", "limit": "5"}, "limit is '5'", "it must be a number"),
        ({"path": "a", "limit": 0}, "limit is 0", "it must be more than 0 and at most 10"),
        ({"path": "a", "limit": 11}, "limit is 11", "it must be more than 0 and at most 10"),
        ({"path": "a", "limit": math.nan}, "limit is nan", "it must be more than 0 and at most 10"),
        ({"path": "a", "limit": 10**40}, f"limit is 1{'0' * 22}…", "at most 10"),
    ],
)
def test_what_is_wrong_is_said_in_the_words_of_the_fields(
    model: Any, value: Any, message: str, hint: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        validate(model, value)
    assert refusal.value.message == message
    assert hint in refusal.value.hint


@BOTH
def test_a_schema_is_flat(model: Any) -> None:
    assert schema(model) == {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "colour": {"type": "string", "enum": ["red", "blue"]},
            "limit": {"type": "number", "exclusiveMinimum": 0, "maximum": 10},
            "count": {"type": "integer"},
            "force": {"type": "boolean", "default": False},
        },
        "required": ["path"],
        "additionalProperties": False,
    }


@BOTH
@pytest.mark.parametrize("name", ["self", "cls", "__dataclass_self__", "model_config"])
def test_no_name_is_special(model: Any, name: str) -> None:
    with pytest.raises(InvalidInput, match="there is no field") as refusal:
        validate(model, {"path": "a", name: 1})
    assert name in refusal.value.message


@BOTH
def test_a_name_that_is_not_unicode_is_refused(model: Any) -> None:
    with pytest.raises(InvalidInput, match="unicode"):
        validate(model, {"path": "a", "\ud800": 1})


def test_a_dataclass_stays_what_it_is() -> None:
    request = validate(
        RecallRequest, {"call_type": "immediate", "additional_context_message": "Read a.log"}
    )
    assert request == RecallRequest(
        call_type=CallType.IMMEDIATE, additional_context_message="Read a.log"
    )


@pytest.mark.parametrize("text", ["a\0", "a\ud800"])
def test_a_request_has_only_texts_that_the_store_can_keep(text: str) -> None:
    with pytest.raises(InvalidInput, match="path contains"):
        validate(Plain, {"path": text})


def test_a_change_knows_what_was_left_out_from_what_is_taken_away() -> None:
    change = validate(AutomationChange, {"max_runs": None, "catch_up": "all"})
    assert change.values() == {"max_runs": None, "catch_up": "all"}
