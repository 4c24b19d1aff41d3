"""Types shared by the tools' arguments."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationInfo

from navi.base.errors import InvalidInput
from navi.live.model.validation import STRICT

Value = TypeVar("Value")


class Arguments(BaseModel):
    """The base class of tools' arguments. Types are strict, and unknown fields are refused."""

    model_config = ConfigDict(**STRICT, frozen=True)


def _require_non_blank(text: str, info: ValidationInfo) -> str:
    if not text.strip():
        raise InvalidInput(f"{info.field_name} is blank", hint="send some text")
    if "\0" in text:
        raise InvalidInput(f"{info.field_name} contains a NUL character", hint="remove it")
    return text


NonBlank = Annotated[str, AfterValidator(_require_non_blank)]
"""Text that the operating system accepts: not blank, and without NUL characters."""


def require(name: str, value: Value | None) -> Value:
    """Return the value of an argument that this action needs. Raises if it is missing."""
    if value is None:
        raise InvalidInput(f"{name} is missing", hint=f"call again with {name}")
    return value
