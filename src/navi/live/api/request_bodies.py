"""What requests may contain."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationInfo, field_validator
from starlette.requests import Request

from navi.base.errors import InvalidInput, TooLarge
from navi.base.stored_text import require_storable
from navi.base.timezone import parse_timezone
from navi.live.model.input import TEXT_LIMIT_BYTES, DeliveryMode
from navi.live.model.scheduling.schedule_request import ScheduleRequest
from navi.live.model.validation import STRICT, validate

BODY_LIMIT_BYTES = 8 * TEXT_LIMIT_BYTES
"""Room for the longest text, however its characters are escaped."""

Model = TypeVar("Model")


class Body(BaseModel):
    """Subclasses declare fields and types; `navi.live.model` decides which values are valid."""

    model_config = STRICT

    @field_validator("*")
    @classmethod
    def _require_storable(cls, value: Any, info: ValidationInfo) -> Any:
        """Checks even ids that are only looked up: the store would refuse the query."""
        return require_storable(info.field_name or "", value) if type(value) is str else value


class NewLogin(Body):
    token: str | None = None
    user: str | None = None
    code: str | None = None


class Logout(Body):
    everywhere: bool = False


class NewSession(Body):
    name: str | None = None
    driver: str | None = None
    model: str | None = None
    program: str | None = None
    cwd: str | None = None
    parent_id: str | None = None


class SessionChange(Body):
    # May be omitted but not null: only fields in the request change.
    name: str = ""
    task: str | None = None
    model: str | None = None
    program: str | None = None


class InputBody(Body):
    text: str
    delivery_mode: DeliveryMode = Field(DeliveryMode.SEQUENTIAL, strict=False)
    input_id: str | None = Field(None, min_length=8, max_length=64, pattern=r"^[A-Za-z0-9._-]+$")
    sender_session_id: str | None = None
    remind: bool = False
    remind_soft_threshold: int | None = None
    notify_on_delivery: bool = False
    notify_on_stop: bool = False


class InputChange(Body):
    text: str | None = None
    delivery_mode: DeliveryMode | None = Field(None, strict=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulePreview(ScheduleRequest):
    count: int = field(default=5, metadata={"ge": 1, "le": 100})


class Requester(Body):
    requester_session_id: str | None = None


class NewRegistration(Body):
    soft_threshold: int | None = None
    hard_threshold: int | None = None


class NewReminder(Body):
    session_id: str
    delay_seconds: float
    message: str


class StatusReport(Body):
    text: str | None


class Completion(Body):
    text: str | None = None


async def read(request: Request, model: type[Model], limit: int = BODY_LIMIT_BYTES) -> Model:
    """Read and validate the request's body. Errors name the field."""
    return parse(await read_bytes(request, limit), model)


def parse(data: bytes | str, model: type[Model]) -> Model:
    try:
        value = parse_json(data or "{}")
    except (ValueError, RecursionError) as error:
        raise InvalidInput("this is not JSON", hint='send an object like {"text": "…"}') from error
    return validate(model, value)


def parse_json(data: bytes | str) -> Any:
    """Strict JSON: Python would also accept NaN, and numbers that overflow to infinity.

    Raises `ValueError` or `RecursionError`.
    """
    return json.loads(data, parse_constant=_finite, parse_float=_finite)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a finite number")
    return number


def timezone(request: Request) -> tzinfo | None:
    """The reader's time zone, from the query parameter `tz`."""
    name = request.query_params.get("tz")
    return parse_timezone(name) if name else None


def flag(request: Request, name: str) -> bool:
    """A query parameter that is true or false; false if omitted."""
    text = request.query_params.get(name, "false")
    if text not in ("true", "false"):
        raise InvalidInput(
            f"{name} must be true or false, not {text[:40]!r}",
            hint=f"write ?{name}=true, or leave it out",
        )
    return text == "true"


def seconds(request: Request, name: str) -> float:
    """How long to wait, from a query parameter; 0 if omitted."""
    text = request.query_params.get(name)
    if text is None:
        return 0.0
    return float(max(0, whole_number(name, text)))


def number(request: Request, name: str, default: int) -> int:
    value = optional_number(request, name)
    return default if value is None else value


def optional_number(request: Request, name: str) -> int | None:
    text = request.query_params.get(name)
    return None if text is None else whole_number(name, text)


def limit(request: Request) -> int | None:
    value = optional_number(request, "limit")
    if value is not None and value < 0:
        raise InvalidInput(f"limit must be 0 or more, not {value}", hint="like ?limit=100")
    return value


def whole_number(name: str, text: str) -> int:
    if len(text) > 18 or not text.removeprefix("-").isdecimal() or not text.isascii():
        raise InvalidInput(
            f"{name} must be a whole number, not {text[:40]!r}", hint=f"like ?{name}=42"
        )
    return int(text)


async def read_bytes(request: Request, limit: int = BODY_LIMIT_BYTES) -> bytes:
    too_large = TooLarge(
        f"the request is larger than {limit:,} bytes", hint="send less in one request"
    )
    content_length = request.headers.get("content-length", "0")
    if content_length.isdecimal() and int(content_length) > limit:
        raise too_large
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > limit:
            raise too_large
    return bytes(data)
