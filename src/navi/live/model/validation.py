"""Checks JSON against a model, and explains what is wrong in terms of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from navi.base.errors import InvalidInput
from navi.base.shortened_text import shortened
from navi.base.stored_text import require_storable
from navi.base.time_expressions import quoted

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails
    from pydantic_core.core_schema import NullableSchema, WithDefaultSchema

STRICT = ConfigDict(extra="forbid", strict=True)
UNKNOWN_FIELD = "extra_forbidden"
EXPECTED_TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "an object",
    "model_type": "an object",
    "dataclass_type": "an object",
}
CHOICE_ERRORS = ("enum", "literal_error")
BOUNDS_IN_WORDS = {
    "minimum": "at least {:.15g}",
    "exclusiveMinimum": "more than {:.15g}",
    "maximum": "at most {:.15g}",
    "exclusiveMaximum": "less than {:.15g}",
}
BOUND_ERRORS = ("greater_than", "greater_than_equal", "less_than", "less_than_equal")
LONGEST_NUMBER = 24

Value = TypeVar("Value")


def validate(model: type[Value], value: Any, noun: str = "field") -> Value:
    """`value` as an instance of `model`: a pydantic model, or a dataclass of plain values.

    `noun` is the word for a field in the `InvalidInput` that refuses the value.
    """
    if not isinstance(value, Mapping):
        raise InvalidInput("this is not a JSON object", hint=_list_fields(model, noun))
    try:
        instance = _pydantic_model(model).model_validate(value)
    except ValidationError as error:
        raise _refusal(error, model, noun) from error
    if isinstance(instance, model):
        return instance
    values = dict(instance)
    for name, item in values.items():
        if type(item) is str:
            require_storable(name, item)
    return model(**values)


def schema(model: type) -> dict[str, Any]:
    """The JSON schema in its simplest form: no titles, no null, no references."""
    json_schema = _pydantic_model(model).model_json_schema(schema_generator=_PlainSchema)
    json_schema.pop("description", None)  # the docstring, which is for developers
    return json_schema


def _pydantic_model(model: Any) -> type[BaseModel]:
    return model if issubclass(model, BaseModel) else _model_of_dataclass(model)


@cache
def _model_of_dataclass(dataclass: Any) -> type[BaseModel]:
    """A pydantic model with the dataclass's fields; their metadata holds arguments of `Field`."""
    hints = get_type_hints(dataclass, include_extras=True)
    definitions: dict[str, Any] = {
        attribute.name: (
            hints[attribute.name],
            Field(... if attribute.default is MISSING else attribute.default, **attribute.metadata),
        )
        for attribute in fields(dataclass)
    }
    return create_model(dataclass.__name__, __config__=STRICT, **definitions)


class _PlainSchema(GenerateJsonSchema):
    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        # Without a reference, pydantic writes the definition in place.
        unreferenced = {key: value for key, value in schema.items() if key != "ref"}
        json_schema = super().generate_inner(unreferenced)
        json_schema.pop("title", None)
        if schema["type"] == "enum":
            json_schema.pop("description", None)  # its docstring
        return json_schema

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
    # Unknown names first: a misspelt name may be why another is missing.
    unknown = [problem for problem in problems if problem["type"] == UNKNOWN_FIELD]
    problem = (unknown or problems)[0]
    kind, value = problem["type"], problem["input"]
    name = ".".join(str(part) for part in problem["loc"]) or "the object"
    if kind == UNKNOWN_FIELD:
        return InvalidInput(f"there is no {noun} {quoted(name)}", hint=_list_fields(model, noun))
    name = name if name.isprintable() else quoted(name)
    if kind == "missing":
        return InvalidInput(f"{name} is missing", hint=_list_fields(model, noun))
    if kind in EXPECTED_TYPES:
        return InvalidInput(
            f"{name} is {_in_words(value)}", hint=f"it must be {EXPECTED_TYPES[kind]}"
        )
    if kind in CHOICE_ERRORS:
        choices = ", ".join(_violated_schema(model, problem)["enum"])
        return InvalidInput(f"there is no {name} {_in_words(value)}", hint=f"one of: {choices}")
    if kind in BOUND_ERRORS:
        rules = _violated_schema(model, problem)
        bounds = [
            words.format(rules[key]) for key, words in BOUNDS_IN_WORDS.items() if key in rules
        ]
        return InvalidInput(
            f"{name} is {_in_words(value)}", hint=f"it must be {' and '.join(bounds)}"
        )
    message = problem["msg"].removeprefix("Value error, ")
    return InvalidInput(f"{name}: {message}", hint=_list_fields(model, noun))


def _list_fields(model: type, noun: str) -> str:
    return f"the {noun}s are: {', '.join(schema(model)['properties'])}"


def _violated_schema(model: type, problem: ErrorDetails) -> dict[str, Any]:
    """The part of the schema that the value violates."""
    rules = schema(model)
    for part in problem["loc"]:
        rules = rules["properties"][part]
    return rules


def _in_words(value: object) -> str:
    """A JSON value, shortened to fit a sentence."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return quoted(value)
        case int() | float():
            return shortened(str(value), LONGEST_NUMBER)
        case list():
            return "a list"
    return "an object"
