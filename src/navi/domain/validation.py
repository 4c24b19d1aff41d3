"""JSON as typed values, and what is wrong with it in the words of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as pydantic_dataclass
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from navi.domain.errors import InvalidInput
from navi.domain.stored_text import require_storable
from navi.domain.when import quoted

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails
    from pydantic_core.core_schema import NullableSchema, WithDefaultSchema

STRICT = ConfigDict(extra="forbid", strict=True)
UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "an object",
}
CHOICES = ("enum", "literal_error")
BOUNDS = {
    "minimum": "at least {:g}",
    "exclusiveMinimum": "more than {:g}",
    "maximum": "at most {:g}",
    "exclusiveMaximum": "less than {:g}",
}
OUT_OF_BOUNDS = ("greater_than", "greater_than_equal", "less_than", "less_than_equal")
LONGEST_NUMBER = 24

Value = TypeVar("Value")


def validate(model: type[Value], value: Any, noun: str = "field") -> Value:
    """`value` as a `model`, which is a pydantic model or an ordinary dataclass of flat fields.

    `noun` is what the caller calls a field.
    """
    if not isinstance(value, Mapping):
        raise InvalidInput("this is not a JSON object", hint=_names(model, noun))
    try:
        checked: Value = _checking(model)(**value)  # type: ignore[arg-type]  # mypy: no Hashable
    except ValidationError as error:
        raise _refusal(error, model, noun) from error
    if not is_dataclass(model):
        return checked
    values = {each.name: getattr(checked, each.name) for each in fields(model)}
    for name, text in values.items():
        if type(text) is str:
            require_storable(name, text)
    return model(**values)


def schema(model: type) -> dict[str, Any]:
    """The JSON schema, without what models don't need: titles, null, references, defaults."""
    described = TypeAdapter(_checking(model)).json_schema(schema_generator=_PlainSchema)
    described.pop("description", None)  # the docstring, which is for us
    return described


@cache
def _checking(model: Any) -> Any:
    """A class whose constructor validates: the model itself, or one derived from a dataclass."""
    if issubclass(model, BaseModel):
        return model
    return pydantic_dataclass(model, config=STRICT, frozen=True, kw_only=True)


class _PlainSchema(GenerateJsonSchema):
    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        # Without its reference a part is written where it is used.
        own = {key: value for key, value in schema.items() if key != "ref"}
        described = super().generate_inner(own)
        described.pop("title", None)
        if schema["type"] == "enum":
            described.pop("description", None)  # its docstring
        return described

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def nullable_schema(self, schema: NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        if isinstance(schema.get("default"), str | int | float):
            return super().default_schema(schema)
        return self.generate_inner(schema["schema"])


def _refusal(error: ValidationError, model: type, noun: str) -> InvalidInput:
    problems = error.errors(include_url=False)
    # A misspelt name first: it explains why another one is missing.
    problem = next((each for each in problems if each["type"] in UNKNOWN), problems[0])
    kind, value = problem["type"], problem["input"]
    name = ".".join(str(part) for part in problem["loc"])
    if kind in UNKNOWN:
        return InvalidInput(f"there is no {noun} {quoted(name)}", hint=_names(model, noun))
    if kind == "missing":
        return InvalidInput(f"{name} is missing", hint=_names(model, noun))
    if kind in TYPES:
        return InvalidInput(f"{name} is {_shown(value)}", hint=f"it must be {TYPES[kind]}")
    if kind in CHOICES:
        choices = ", ".join(_rules(model, problem)["enum"])
        return InvalidInput(f"there is no {name} {_shown(value)}", hint=f"one of: {choices}")
    if kind in OUT_OF_BOUNDS:
        rules = _rules(model, problem)
        bounds = [words.format(rules[key]) for key, words in BOUNDS.items() if key in rules]
        return InvalidInput(f"{name} is {_shown(value)}", hint=f"it must be {' and '.join(bounds)}")
    return InvalidInput(f"{name}: {problem['msg']}", hint=_names(model, noun))


def _names(model: type, noun: str) -> str:
    return f"the {noun}s are: {', '.join(schema(model)['properties'])}"


def _rules(model: type, problem: ErrorDetails) -> dict[str, Any]:
    """The part of the schema that the value breaks."""
    rules = schema(model)
    for part in problem["loc"]:
        rules = rules["properties"][part]
    return rules


def _shown(value: object) -> str:
    """A JSON value, short enough for a sentence."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return quoted(value)
        case int() | float():
            digits = str(value)
            return digits if len(digits) <= LONGEST_NUMBER else f"{digits[:LONGEST_NUMBER]}…"
        case list():
            return "a list"
    return "an object"
