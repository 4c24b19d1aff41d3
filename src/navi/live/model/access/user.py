"""Who may see and do what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

LOCAL_USER_ID = "local"


class Role(StrEnum):
    ADMIN = "admin"
    USER = "user"


@dataclass(frozen=True, slots=True)
class User:
    """`info` is free text about the person that tools may use, such as a time zone."""

    id: str
    role: Role
    created_at: datetime
    info: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_admin(self) -> bool:
        return self.role is Role.ADMIN

    def may_touch(self, owner_id: str) -> bool:
        return self.is_admin or owner_id == self.id


@dataclass(frozen=True, slots=True)
class Belongings:
    """What a user has; all but the sessions is stopped when they are removed."""

    sessions: int
    turns: int
    """Running, anywhere."""
    inputs: int
    """Waiting for their turn."""
    recalls: int
    automations: int
    reminders: int
