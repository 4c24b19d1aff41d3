"""What happens when an agent needs permission, whether or not anybody is there to ask."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from navi.base.errors import InvalidInput
from navi.live.model.question import Decision, NewQuestion, QuestionAnswer

ON_PERMISSION = "on_permission"
"""Metadata key of an input: the policy of its turn, instead of its session's."""


class OnPermission(StrEnum):
    ASK = "ask"
    """Ask a person, and wait for the answer."""
    DENY = "deny"
    """Deny at once, with a message."""
    ALLOW_LISTED = "allow-listed"
    """Allow calls that only read or run checks, and calls that a rule allows; deny the rest."""


@dataclass(frozen=True, slots=True)
class PermissionPolicy:
    on_permission: OnPermission
    rules: tuple[str, ...] = ()
    """Rules like `Bash(npm test:*)` or `WebFetch`, for ALLOW_LISTED."""

    @property
    def may_allow(self) -> bool:
        """Whether any call that needs permission can be allowed."""
        return self.on_permission is not OnPermission.DENY

    @property
    def snapshot(self) -> dict[str, Any]:
        """The policy as it is stored with a run."""
        content = {"on_permission": self.on_permission.value, "rules": list(self.rules)}
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        return {**content, "sha256": digest}

    def decide(self, new: NewQuestion, *, is_listed: bool) -> QuestionAnswer | None:
        """The answer, or None to ask a person. `is_listed` says whether ALLOW_LISTED allows it."""
        if self.on_permission is OnPermission.ASK or new.outlives_turn:
            return None
        if self.on_permission is OnPermission.ALLOW_LISTED and is_listed:
            return QuestionAnswer(Decision.ALLOW)
        return QuestionAnswer(
            Decision.DENY,
            "This session runs unattended, so nobody was asked and this was denied. Do without it; "
            "if you can't, say at the end what you needed.",
        )


def require_on_permission(text: str) -> OnPermission:
    if text not in set(OnPermission):
        raise InvalidInput(
            f"on_permission can't be {text!r}", hint=f"one of: {', '.join(OnPermission)}"
        )
    return OnPermission(text)


def policy_of(
    session_value: OnPermission | None,
    metadata: Mapping[str, Any],
    default: OnPermission,
    rules: tuple[str, ...],
) -> PermissionPolicy:
    """The policy of a turn: its automation's, else its session's, else the default."""
    on_permission = OnPermission(metadata.get(ON_PERMISSION) or session_value or default)
    return PermissionPolicy(
        on_permission, rules if on_permission is OnPermission.ALLOW_LISTED else ()
    )
