"""A user, and what they may touch."""

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
    """`info` holds facts about the person for tools to use, such as a time zone."""

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
    """Counts of what a user has. Removing the user ends all of it except the sessions."""

    sessions: int
    turns: int
    """Turns running on any server."""
    inputs: int
    """Inputs waiting for their turn."""
    recalls: int
    automations: int
    reminders: int
