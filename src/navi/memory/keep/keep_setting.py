"""Which sessions are kept: `RECALL_KEEP`, else `[keep] sessions` in a settings file."""

from __future__ import annotations

import os
from collections.abc import Mapping

from navi.base.errors import UsageError
from navi.memory.index_settings import setting

CHOSEN, ALL = "chosen", "all"


def keeps_all(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether every session is kept, not only those that a person chose."""
    value, name = setting("RECALL_KEEP", "keep", "sessions", environment)
    if value is None or value == CHOSEN:
        return False
    if value != ALL:
        raise UsageError(f"{name} must be {CHOSEN!r} or {ALL!r}", hint="correct the setting")
    return True
