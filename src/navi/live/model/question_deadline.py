"""How long the questions of a session or of an automation's runs wait for an answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from navi.base.errors import InvalidInput
from navi.base.shortened_text import shortened
from navi.base.time_expressions import FURTHEST

QUESTION_DEADLINE = "question_deadline_minutes"
"""Metadata key of an input: the deadline for its turn, instead of its session's."""
LONGEST_MINUTES = FURTHEST // timedelta(minutes=1)
LONGEST_NUMBER = 24


def require_question_deadline(minutes: int | None) -> int | None:
    """Return the minutes. 0 means that questions wait forever, None that nothing was chosen."""
    if minutes is not None and not 0 <= minutes <= LONGEST_MINUTES:
        raise InvalidInput(
            f"{QUESTION_DEADLINE} is {shortened(str(minutes), LONGEST_NUMBER)}",
            hint=f"use a number of minutes from 1 to {LONGEST_MINUTES} (10 years); 0 waits forever",
        )
    return minutes


def question_deadline(
    own: timedelta | None,
    session_minutes: int | None,
    metadata: Mapping[str, Any],
    default: timedelta | None,
) -> timedelta | None:
    """How long a question waits; None if it waits forever.

    `own` is the deadline that the agent asked for. It may be longer than the setting, but not
    longer than what a person chose for the automation or, failing that, for the session.
    """
    chosen = metadata.get(QUESTION_DEADLINE, session_minutes)
    if chosen is None:
        return own or default
    limits = (own, timedelta(minutes=chosen))
    return min((each for each in limits if each), default=None)
