"""Finds a question by its id, the start of its id, or the session that asked it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from navi.base.errors import Conflict, NotFound
from navi.cli.sm import lines, target
from navi.client import Client
from navi.live.model.session_reference import SessionUnclear

if TYPE_CHECKING:
    from navi.live.model.wire_format import QuestionJson

SHORTEST_PREFIX = 4
ITEM_PREFIX = "question-"
"""Precedes a question's id in the inbox."""


class QuestionUnclear(Conflict):
    kind = "question_unclear"


def find(client: Client, text: str) -> QuestionJson:
    """The open question that `text` refers to. If none is open, the newest one."""
    questions = client.questions()
    matches = _by_id(questions, text.removeprefix(ITEM_PREFIX).lower())
    if not matches:
        matches = _by_session(client, questions, text)
    open_matches = [each for each in matches if each["state"] == "open"]
    if len(open_matches) > 1:
        raise QuestionUnclear(
            f"{text!r} is ambiguous: {len(open_matches)} questions are open",
            hint="use an id: " + "; ".join(candidate(each) for each in open_matches),
        )
    return open_matches[0] if open_matches else matches[0]


def candidate(question: QuestionJson) -> str:
    """`523e1024e56ea2d3 (Which database?)`"""
    return f"{question['id']} ({lines.plain(question['title'], lines.LONGEST)})"


def _by_id(questions: Sequence[QuestionJson], start: str) -> list[QuestionJson]:
    if len(start) < SHORTEST_PREFIX:
        return []
    matches = [each for each in questions if each["id"].startswith(start)]
    return [each for each in matches if each["id"] == start] or matches


def _by_session(client: Client, questions: Sequence[QuestionJson], text: str) -> list[QuestionJson]:
    try:
        session = target.find(client, text)
    except SessionUnclear:
        raise
    except NotFound as error:
        raise NotFound(
            f"there is no question or session {text!r}", hint="`sm inbox` lists the open questions"
        ) from error
    matches = [each for each in questions if each["session_id"] == session["id"]]
    if not matches:
        raise NotFound(
            f"{lines.title_and_id(session)} has no open question",
            hint="`sm inbox` lists the open questions",
        )
    return matches
