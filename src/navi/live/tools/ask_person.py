"""Lets an agent ask a person. Asking ends the turn; the answer starts the next one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, ClassVar, Protocol

from pydantic import Field

from navi.base.time_expressions import parse_duration
from navi.live.model.access.user import User
from navi.live.model.question import Question
from navi.live.model.tool import ToolContext, ToolResult
from navi.live.tools.argument_types import Arguments, NonBlank


class AskPersonArguments(Arguments):
    question: NonBlank = Field(
        description="What you need to know, with the facts needed to decide. The first line is "
        "the question."
    )
    options: Annotated[list[NonBlank], Field(max_length=20)] = Field(
        default_factory=list, description="Answers to choose from; the person may write another."
    )
    deadline: NonBlank | None = Field(
        None, description="How long to wait, e.g. `2h`. A message tells you if nobody answered."
    )


class Questions(Protocol):
    """The part of the question service that this tool uses."""

    async def ask_person(
        self,
        user: User,
        session_id: str,
        text: str,
        options: Sequence[str] = ...,
        deadline: timedelta | None = ...,
    ) -> Question: ...


@dataclass(frozen=True, slots=True)
class AskPerson:
    questions: Questions

    name: ClassVar[str] = "ask_person"
    description: ClassVar[str] = (
        "Asks the person you work for something that only they can decide, and ends your turn. "
        "The answer is your next message, perhaps hours later. Say everything else first: nothing "
        "runs until then."
    )
    arguments: ClassVar[type[AskPersonArguments]] = AskPersonArguments

    async def run(self, context: ToolContext, arguments: AskPersonArguments) -> ToolResult:
        deadline = None if arguments.deadline is None else parse_duration(arguments.deadline)
        question = await self.questions.ask_person(
            context.user, context.session_id, arguments.question, arguments.options, deadline
        )
        text = (
            f"The question is stored ({question.id}). End your turn now, without doing anything "
            "else: the answer will be your next message."
        )
        return ToolResult(text, ends_turn=True)
