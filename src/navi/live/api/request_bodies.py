"""The JSON bodies of requests."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationInfo, field_validator
from starlette.requests import Request

from navi.base.errors import InvalidInput, TooLarge
from navi.base.stored_text import require_storable
from navi.live.model.budget import Amount, amount_of
from navi.live.model.input import TEXT_LIMIT_BYTES, DeliveryMode
from navi.live.model.question import Decision
from navi.live.model.scheduling.schedule_request import ScheduleRequest
from navi.live.model.validation import STRICT, validate

BODY_LIMIT_BYTES = 8 * TEXT_LIMIT_BYTES
"""Enough for the longest text, even if all of its characters are escaped."""

PERSON_ONLY = frozenset({"on_permission", "question_deadline_minutes", "budget"})
"""Fields of sessions and automations that agents can't set."""

Model = TypeVar("Model")


class Body(BaseModel):
    """Subclasses declare fields and types; `navi.live.model` decides which values are valid."""

    model_config = STRICT

    @field_validator("*")
    @classmethod
    def _require_storable(cls, value: Any, info: ValidationInfo) -> Any:
        """Check every text, even ids: the store can't search for text that it can't hold."""
        return require_storable(info.field_name or "", value) if type(value) is str else value


class NewLogin(Body):
    token: str | None = None
    user: str | None = None
    code: str | None = None


class Logout(Body):
    everywhere: bool = False


class NewBudget(Body):
    tokens: int | None = None
    dollars: float | None = None
    per: str | None = None

    @property
    def amount(self) -> Amount:
        return amount_of(self.tokens, self.dollars)


class NewSession(Body):
    name: str | None = None
    driver: str | None = None
    model: str | None = None
    program: str | None = None
    cwd: str | None = None
    parent_id: str | None = None
    on_permission: str | None = None
    question_deadline_minutes: int | None = None
    budget: NewBudget | None = None


class SessionChange(Body):
    # Omitted fields stay unchanged. Only `task`, `model`, `program`, `on_permission`,
    # `question_deadline_minutes` and `budget` can be null.
    name: str = ""
    task: str | None = None
    model: str | None = None
    program: str | None = None
    unread: bool = False
    pinned: bool = False
    archived: bool = False
    on_permission: str | None = None
    question_deadline_minutes: int | None = None
    budget: NewBudget | None = None


class NewAnswer(Body):
    decision: Decision = Field(strict=False)
    text: str | None = None
    choices: list[str] = []
    updated_input: dict[str, Any] | None = None
    via: str = Field("api", pattern="^(api|sm|page|terminal|notification)$")


class NewSnooze(Body):
    until: str
    tz: str | None = None


class LinkAnswer(Body):
    decision: Decision = Field(strict=False)
    text: str | None = None
    choices: list[str] = []


class NotificationTest(Body):
    channel: str | None = None


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


class IgnoredLimit(Body):
    account: str | None = None


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
