"""Detects an agent that repeats the same call and always gets the same result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from navi.base.shortened_text import shortened
from navi.live.model.event import ToolFinished
from navi.live.model.question import (
    ALLOWED_CALL,
    LOOP_CALL,
    STOP,
    NewQuestion,
    Option,
    QuestionKind,
)
from navi.live.model.refusal import call_in_words

CONTINUE = "continue"
RESULT_CHARACTERS = 500


class RepeatedCalls:
    """The calls of one turn. `limit` identical ones in a row are too many; 0 means no limit."""

    def __init__(self, limit: int, metadata: Mapping[str, Any]) -> None:
        self._limit = limit
        self._allowed = metadata.get(ALLOWED_CALL)
        self._last = ""
        self._count = 0
        self.loop: ToolFinished | None = None
        """The call that was repeated too often."""

    @property
    def has_loop(self) -> bool:
        return self.loop is not None

    def record(self, call: ToolFinished) -> bool:
        """Count the call. True if it reaches the limit."""
        digest = digest_of(call)
        self._count = self._count + 1 if digest == self._last else 1
        self._last = digest
        if self._count != self._limit or digest == self._allowed or self.has_loop:
            return False
        self.loop = call
        return True

    def in_words(self) -> str:
        assert self.loop is not None
        return (
            f"the agent called {self.loop.name} {self._limit} times in a row with the same input "
            "and the same result"
        )

    def question(self, turn_id: str) -> NewQuestion:
        """The question to a person about the loop. The agent stays stopped until it is answered."""
        assert self.loop is not None
        words = self.in_words()
        result = shortened(self.loop.result.strip(), RESULT_CHARACTERS)
        call = call_in_words(self.loop.name, self.loop.arguments)
        return NewQuestion(
            kind=QuestionKind.CHOICE,
            title=words[0].upper() + words[1:],
            call_id=f"{LOOP_CALL}{digest_of(self.loop)}:{turn_id}",
            detail=f"{call}\n{result}".strip(),
            options=(
                Option(CONTINUE, "It continues, and may repeat this call."),
                Option(STOP, "Its turn stays ended."),
            ),
            allow_free_text=True,
            outlives_turn=True,
            waits_forever=True,
        )


def digest_of(call: ToolFinished) -> str:
    content = [call.name, dict(call.arguments), call.result, call.is_error]
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
