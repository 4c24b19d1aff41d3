"""Something that only a person can decide, and what they decided."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from navi.base.errors import Conflict, InvalidInput, NotFound
from navi.base.ids import new_id
from navi.base.shortened_text import shortened
from navi.base.stored_text import require_storable
from navi.base.time_expressions import describe_length
from navi.live.model.input import DeliveryMode, NewInput, Origin, require_text

BUDGET_CALL = "budget:"
"""The prefix of the call id of a question about a used-up budget."""
LOOP_CALL = "loop:"
"""The prefix of the call id of a question about a repeated call. The call's digest follows."""
ALLOWED_CALL = "allowed_call"
"""Metadata key of an input: the digest of the call that a person lets its turn repeat."""
STOP = "stop"
"""The option that leaves a session as it is: paused, or with its turn ended."""
TITLE_LIMIT = 200
"""Characters of a question's title, which is one line in lists."""
ANSWER_PREFIX = "[answer to "
"""The beginning of an input that carries an answer."""
TERMINAL = "terminal"
"""`answered_via` of a question that was answered in the agent's own terminal. Navi can't see that
answer."""


TERMINAL_CALL = "terminal-"
"""The prefix of the ids of calls that ask in a terminal. The agent's hook invents these ids,
because the agent does not pass on its own."""


class QuestionKind(StrEnum):
    PERMISSION = "permission"
    """May this tool be called with this input?"""
    CHOICE = "choice"
    """Which of these options?"""
    PLAN = "plan"
    """May the agent do what it has planned?"""
    TEXT = "text"
    """A question that is answered in words."""


class QuestionState(StrEnum):
    OPEN = "open"
    ANSWERED = "answered"
    WITHDRAWN = "withdrawn"
    """Nobody needs the answer any more, because the turn or the session ended."""
    EXPIRED = "expired"
    """Nobody answered before the deadline, so the default was taken."""


class Decision(StrEnum):
    ALLOW = "allow"
    ALLOW_ALWAYS = "allow_always"
    """Allow this call, and write a rule so that the agent need not ask about such calls again."""
    DENY = "deny"
    CHOOSE = "choose"
    REPLY = "reply"


DECISIONS: Mapping[QuestionKind, tuple[Decision, ...]] = {
    QuestionKind.PERMISSION: (Decision.ALLOW, Decision.ALLOW_ALWAYS, Decision.DENY),
    QuestionKind.CHOICE: (Decision.CHOOSE, Decision.REPLY, Decision.DENY),
    QuestionKind.PLAN: (Decision.ALLOW, Decision.DENY),
    QuestionKind.TEXT: (Decision.REPLY, Decision.DENY),
}
"""How each kind of question can be answered."""


def decisions_of(kind: QuestionKind, *, has_rule: bool) -> tuple[Decision, ...]:
    """How this question can be answered. "Always" is offered only if there is a rule to add."""
    return tuple(each for each in DECISIONS[kind] if has_rule or each is not Decision.ALLOW_ALWAYS)


@dataclass(frozen=True, slots=True)
class Option:
    label: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """What a person decided, or the default that applies after the deadline."""

    decision: Decision
    text: str | None = None
    """The reply or, with a denial, a message to the agent."""
    choices: Sequence[str] = ()
    """The labels of the chosen options."""
    updated_input: Mapping[str, Any] | None = None
    """The input to call the tool with, instead of the agent's."""


@dataclass(frozen=True, slots=True)
class NewQuestion:
    """A question as an agent asks it."""

    kind: QuestionKind
    title: str
    """The question in one line."""
    call_id: str = field(default_factory=new_id)
    """The agent's id for the call that asks."""
    detail: str = ""
    tool_name: str | None = None
    tool_input: Mapping[str, Any] | None = None
    options: Sequence[Option] = ()
    allow_free_text: bool = False
    allow_several: bool = False
    takes_updated_input: bool = False
    """Whether the agent lets a person change the tool's input."""
    suggestions: Sequence[Mapping[str, Any]] = ()
    """The rules that "always allow" adds to the agent's settings; without any, it can't be
    chosen."""
    outlives_turn: bool = False
    """Whether asking ends the turn; the answer then starts another one."""
    deadline: timedelta | None = None
    """How long the agent wants to wait for an answer; None for the usual time."""
    waits_forever: bool = False
    """Whether there is no deadline, because waiting is safest or a person can answer elsewhere."""

    @property
    def fingerprint(self) -> str:
        """The same whenever the agent asks this question, even with another call id."""
        content = [self.kind, self.title, self.tool_name, self.tool_input]
        text = json.dumps(content, sort_keys=True, default=dict)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    session_id: str
    turn_id: str | None
    """The turn that asked; None if it was asked in a person's own terminal."""
    call_id: str
    fingerprint: str
    kind: QuestionKind
    title: str
    detail: str
    tool_name: str | None
    tool_input: Mapping[str, Any] | None
    risk: str | None
    """How risky the tool call is: see `navi.permissions.tool_risk`."""
    risk_reason: str | None
    options: Sequence[Option]
    allow_free_text: bool
    allow_several: bool
    takes_updated_input: bool
    suggestions: Sequence[Mapping[str, Any]]
    outlives_turn: bool
    state: QuestionState
    default: QuestionAnswer
    """The answer if nobody has answered by `deadline_at`."""
    deadline_at: datetime | None
    created_at: datetime
    answer: QuestionAnswer | None = None
    answered_by: str | None = None
    """The id of the user who answered; None after the deadline."""
    answered_via: str | None = None
    """Where they answered: `sm`, `page`, `terminal`, `notification`, `api` or `deadline`."""
    answered_at: datetime | None = None

    @classmethod
    def create(
        cls,
        new: NewQuestion,
        session_id: str,
        turn_id: str | None,
        now: datetime,
        wait: timedelta | None,
        risk: tuple[str, str] | None = None,
    ) -> Question:
        """The open question, which waits forever if `wait` is None.

        Its id is the same if the same call asks again.
        """
        return cls(
            id=question_id(session_id, new.call_id, new.fingerprint),
            session_id=session_id,
            turn_id=turn_id,
            call_id=new.call_id,
            fingerprint=new.fingerprint,
            kind=new.kind,
            title=shortened(" ".join(new.title.split()), TITLE_LIMIT),
            detail=new.detail,
            tool_name=new.tool_name,
            tool_input=new.tool_input,
            risk=None if risk is None else risk[0],
            risk_reason=None if risk is None else risk[1],
            options=tuple(new.options),
            allow_free_text=new.allow_free_text,
            allow_several=new.allow_several,
            takes_updated_input=new.takes_updated_input,
            suggestions=tuple(new.suggestions),
            outlives_turn=new.outlives_turn,
            state=QuestionState.OPEN,
            default=default_answer(new.kind, wait),
            deadline_at=None if wait is None else now + wait,
            created_at=now,
        )

    @property
    def is_open(self) -> bool:
        return self.state is QuestionState.OPEN

    @property
    def is_about_budget(self) -> bool:
        return self.outlives_turn and self.call_id.startswith(BUDGET_CALL)

    @property
    def repeated_call(self) -> str | None:
        """The digest of the repeated call that it is about."""
        if not self.outlives_turn or not self.call_id.startswith(LOOP_CALL):
            return None
        return self.call_id.split(":")[1]

    @property
    def starts_turn(self) -> bool:
        """Whether its answer is an input of the session."""
        if not self.outlives_turn or self.is_about_budget:
            return False
        if self.repeated_call is None or self.answer is None:
            return self.outlives_turn
        is_stop = self.answer.decision is Decision.DENY or STOP in self.answer.choices
        return not is_stop

    @property
    def is_in_terminal(self) -> bool:
        """Whether a person can also answer it in a dialog of the agent's own terminal."""
        return self.call_id.startswith(TERMINAL_CALL)

    def closed(
        self,
        state: QuestionState,
        answer: QuestionAnswer | None,
        by: str | None,
        via: str | None,
        now: datetime,
    ) -> Question:
        return replace(
            self, state=state, answer=answer, answered_by=by, answered_via=via, answered_at=now
        )


class QuestionNotFound(NotFound):
    kind = "question_not_found"

    def __init__(self, question_id: str) -> None:
        super().__init__(
            f"there is no question {question_id}", hint="GET /questions lists the open ones"
        )


class QuestionClosed(Conflict):
    kind = "question_closed"

    def __init__(self, question: Question) -> None:
        super().__init__(
            f"this question was already {_how_closed(question)}",
            hint=f"only the first answer counts; GET /questions/{question.id} shows it",
        )
        self.question = question


def _how_closed(question: Question) -> str:
    if question.state is QuestionState.ANSWERED:
        by = f" by {question.answered_by}" if question.answered_by else ""
        return f"answered{by}, from {question.answered_via}"
    if question.state is QuestionState.EXPIRED:
        return "closed by its deadline"
    if question.answered_via == TERMINAL:
        return "answered in the agent's terminal"
    return "withdrawn: its turn or session has ended"


def question_id(session_id: str, call_id: str, fingerprint: str) -> str:
    return hashlib.sha256(f"{session_id}/{call_id}/{fingerprint}".encode()).hexdigest()[:16]


def default_answer(kind: QuestionKind, wait: timedelta | None) -> QuestionAnswer:
    """The answer that the agent gets if nobody answers in time."""
    within = "" if wait is None else f" within {describe_length(wait)}"
    text = f"Nobody answered{within}, so this was denied. Do without it, or say what you need."
    if kind in (QuestionKind.CHOICE, QuestionKind.TEXT):
        text = f"Nobody answered{within}. Choose the safest way to go on, or say what you need."
    return QuestionAnswer(Decision.DENY, text)


def require_answer(question: Question, answer: QuestionAnswer) -> QuestionAnswer:
    """Return the answer. Raises `InvalidInput` if it doesn't fit the question."""
    possible = decisions_of(question.kind, has_rule=bool(question.suggestions))
    if answer.decision not in possible:
        if answer.decision in DECISIONS[question.kind]:
            raise InvalidInput(
                "there is no rule that would always allow this", hint="allow it this time"
            )
        raise InvalidInput(
            f"a {question.kind} question can't be answered with {answer.decision}",
            hint=f"decision is one of: {', '.join(possible)}",
        )
    if answer.updated_input is not None:
        _require_updated_input(question, answer.decision)
    if answer.decision is Decision.CHOOSE:
        _require_choices(question, answer)
    elif answer.choices:
        raise InvalidInput(
            "choices can only be used with the decision choose", hint="leave out choices"
        )
    if answer.decision is Decision.REPLY:
        if question.kind is QuestionKind.CHOICE and not question.allow_free_text:
            raise InvalidInput(
                "only one of the options can be the answer", hint=f"choose {_labels(question)}"
            )
        require_text(answer.text or "")
    if answer.text is not None:
        require_storable("text", answer.text)
    return answer


def _require_updated_input(question: Question, decision: Decision) -> None:
    if decision is not Decision.ALLOW or not question.takes_updated_input:
        raise InvalidInput(
            "the input can't be changed here",
            hint="leave out updated_input; deny with a message that says what to do instead",
        )


def _require_choices(question: Question, answer: QuestionAnswer) -> None:
    labels = [option.label for option in question.options]
    unknown = [choice for choice in answer.choices if choice not in labels]
    if unknown or not answer.choices:
        problem = f"there is no option {unknown[0]!r}" if unknown else "no option was chosen"
        raise InvalidInput(problem, hint=f"choose {_labels(question)}")
    if len(answer.choices) > 1 and not question.allow_several:
        raise InvalidInput("only one option can be chosen", hint="choose only one")


def _labels(question: Question) -> str:
    return " or ".join(repr(option.label) for option in question.options)


def answer_input(question: Question, policy: Mapping[str, Any]) -> NewInput:
    """The input that carries the answer to a question that ended its turn.

    `policy` is the metadata that said what that turn was allowed to do without asking.
    """
    assert question.answer is not None
    metadata: dict[str, Any] = {"question_id": question.id, **policy}
    if question.repeated_call is not None and question.answer.choices:
        metadata[ALLOWED_CALL] = question.repeated_call
    text = f'{ANSWER_PREFIX}"{question.title}"]\n{answer_in_words(question.answer)}'
    return NewInput(
        id=f"{question.id}.answer",
        session_id=question.session_id,
        text=text,
        delivery_mode=DeliveryMode.IMPORTANT,
        origin=Origin.ANSWER,
        metadata=metadata,
    )


def answer_in_words(answer: QuestionAnswer) -> str:
    """The answer as the agent reads it."""
    match answer.decision:
        case Decision.CHOOSE:
            words = ", ".join(answer.choices)
            return f"{words}\n{answer.text}" if answer.text else words
        case Decision.ALLOW | Decision.ALLOW_ALWAYS:
            return "Allowed."
        case Decision.DENY:
            return answer.text or "The person declined to answer."
    return answer.text or ""
