"""A request to add an automation, and a request to change one."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from navi.live.model.budget import BudgetRequest
from navi.live.model.permission_policy import OnPermission
from navi.live.model.scheduling.automation import CatchUp
from navi.live.model.scheduling.schedule_request import ScheduleRequest


class _Unchanged:
    def __repr__(self) -> str:
        return "UNCHANGED"


UNCHANGED: Any = _Unchanged()


@dataclass(frozen=True, slots=True, kw_only=True)
class AutomationRequest(ScheduleRequest):
    name: str
    message: str
    # Not strict, because JSON has no enums.
    catch_up: CatchUp | None = field(default=None, metadata={"strict": False})
    max_runs: int | None = None
    expires_at: str | None = None
    max_failures: int | None = None
    time_limit_seconds: int | None = None
    on_permission: OnPermission | None = field(default=None, metadata={"strict": False})
    question_deadline_minutes: int | None = None
    budget: BudgetRequest | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AutomationChange:
    """Fields left UNCHANGED stay as they are; None removes a limit."""

    name: str = UNCHANGED
    message: str = UNCHANGED
    enabled: bool = UNCHANGED
    at: str | None = UNCHANGED
    every_seconds: int | None = UNCHANGED
    cron_expr: str | None = UNCHANGED
    tz: str | None = UNCHANGED
    catch_up: CatchUp | None = field(default=UNCHANGED, metadata={"strict": False})
    max_runs: int | None = UNCHANGED
    expires_at: str | None = UNCHANGED
    max_failures: int = UNCHANGED
    time_limit_seconds: int | None = UNCHANGED
    on_permission: OnPermission | None = field(default=UNCHANGED, metadata={"strict": False})
    question_deadline_minutes: int | None = UNCHANGED
    budget: BudgetRequest | None = UNCHANGED

    def values(self) -> dict[str, Any]:
        """The fields to change, by name."""
        values = {attribute.name: getattr(self, attribute.name) for attribute in fields(self)}
        return {name: value for name, value in values.items() if value is not UNCHANGED}
