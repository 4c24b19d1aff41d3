"""What people are notified of, and the text they get."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from navi.base.control_characters import one_line
from navi.base.secrets.masking import mask
from navi.base.shortened_text import shortened
from navi.live.model.attention import Attention, attention_of
from navi.live.model.question import Question, QuestionKind
from navi.live.model.scheduling.automation import Automation, is_hidden
from navi.live.model.session import Session

TITLE_LIMIT = 120
TEXT_LIMIT = 500
"""Characters of a notification's text: as much as a phone shows."""
LINE_LIMIT = 100
"""Characters that a digest quotes of each notification."""
READ_LIMIT = 20_000
"""Characters of a long text that are masked before it is shortened. Far more than `TEXT_LIMIT`, so
that no secret is cut in two and half of it shown."""
TIME_TO_LOOK = timedelta(seconds=30)
"""How long to wait, in case a person is watching and sees that the session has finished or
failed."""


class NotificationKind(StrEnum):
    QUESTION = "question"
    FAILED = "failed"
    FINISHED = "finished"
    AUTOMATION_OFF = "automation_off"
    """An automation failed too often and was switched off."""
    DIGEST = "digest"
    """Everything that waited for the end of the quiet hours."""
    TEST = "test"


class NotificationState(StrEnum):
    WAITING = "waiting"
    SENT = "sent"
    IN_DIGEST = "in_digest"
    """It is sent as a line of a digest."""
    SKIPPED = "skipped"
    """It was not sent; `reason` says why."""
    FAILED = "failed"
    """At least one channel could not deliver it."""


IMPORTANCE: Mapping[NotificationKind, int] = {
    NotificationKind.QUESTION: 4,
    NotificationKind.AUTOMATION_OFF: 3,
    NotificationKind.FAILED: 3,
    NotificationKind.FINISHED: 2,
    NotificationKind.TEST: 2,
}
"""Of the waiting notifications, the most important is sent first."""
EMPTY: Mapping[str, str] = {}
RISKY = 5
"""The importance of a high-risk permission."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """The result of sending a notification over one channel."""

    sent_at: datetime | None = None
    error: str | None = None
    is_refused: bool = False
    """Whether the channel refused it, so that trying again is useless."""

    @property
    def is_settled(self) -> bool:
        return self.sent_at is not None or self.is_refused


@dataclass(frozen=True, slots=True)
class Notification:
    """`title` names the session and what happened; `text` quotes it, with secrets masked."""

    id: str
    """Identifies the change that it reports, so that nothing is stored or sent twice."""
    kind: NotificationKind
    user_id: str
    session_id: str | None
    question_id: str | None
    title: str
    text: str
    importance: int
    created_at: datetime
    due_at: datetime
    """When to send it, or to try again."""
    state: NotificationState = NotificationState.WAITING
    reason: str | None = None
    """Why it waits, or was not sent."""
    digest_id: str | None = None
    attempts: int = 0
    deliveries: Mapping[str, Delivery] = field(default_factory=dict)
    """By channel."""
    sent_at: datetime | None = None

    @property
    def errors(self) -> list[str]:
        """The errors of the channels that could not deliver it."""
        return [
            f"{channel}: {each.error}"
            for channel, each in self.deliveries.items()
            if each.error is not None
        ]


def of_question(question: Question, session: Session, now: datetime) -> Notification:
    is_risky = question.risk == "high"
    verb = "needs permission" if question.kind is QuestionKind.PERMISSION else "asks"
    return Notification(
        id=f"question.{question.id}",
        kind=NotificationKind.QUESTION,
        user_id=session.user_id,
        session_id=session.id,
        question_id=question.id,
        title=_title(session.title, verb),
        text=quoted("\n".join(_question_lines(question))),
        importance=RISKY if is_risky else IMPORTANCE[NotificationKind.QUESTION],
        created_at=now,
        due_at=now,
    )


def of_turn(session: Session, turn_id: str, text: str, now: datetime) -> Notification | None:
    """The notification that a turn has ended; None if nobody needs to know."""
    kind = _kind_of(attention_of(session))
    if kind is None or is_hidden(session.id):
        return None
    return Notification(
        id=f"turn.{turn_id}",
        kind=kind,
        user_id=session.user_id,
        session_id=session.id,
        question_id=None,
        title=_title(session.title, kind.value),
        text=quoted(text),
        importance=IMPORTANCE[kind],
        created_at=now,
        due_at=now + TIME_TO_LOOK,
    )


def of_automation(automation: Automation, run_id: str, now: datetime) -> Notification:
    return Notification(
        id=f"automation.{automation.id}.{run_id}",
        kind=NotificationKind.AUTOMATION_OFF,
        user_id=automation.user_id,
        session_id=automation.session_id,
        question_id=None,
        title=_title(f"Automation {automation.name}", "is switched off"),
        text=quoted(automation.last_error or "It failed too often."),
        importance=IMPORTANCE[NotificationKind.AUTOMATION_OFF],
        created_at=now,
        due_at=now,
    )


def still_applies(
    notification: Notification, session: Session | None, *, is_question_open: bool
) -> bool:
    """Whether it is still news: the question is open, or nobody has looked at the session."""
    if notification.kind is NotificationKind.QUESTION:
        return is_question_open
    if notification.kind in (NotificationKind.FAILED, NotificationKind.FINISHED):
        return session is not None and _kind_of(attention_of(session)) is notification.kind
    return True


def digest(members: Sequence[Notification], id: str, now: datetime) -> Notification:
    """One notification for everything that waited for the end of the quiet hours."""
    first = members[0]
    return Notification(
        id=f"digest.{id}",
        kind=NotificationKind.DIGEST,
        user_id=first.user_id,
        session_id=None,
        question_id=None,
        title=digest_title(members),
        text=digest_text(members),
        importance=max(each.importance for each in members),
        created_at=now,
        due_at=now,
    )


def digest_title(members: Sequence[Notification]) -> str:
    things = "1 thing" if len(members) == 1 else f"{len(members)} things"
    return f"{things} happened during your quiet hours"


def digest_text(
    members: Sequence[Notification],
    answer_links: Mapping[str, str] = EMPTY,
    *,
    quotes: bool = True,
) -> str:
    """One line for each, most important first. `answer_links` maps the ids of questions to links,
    which follow the question's line."""
    lines = []
    for each in sorted(members, key=lambda each: (-each.importance, each.created_at)):
        quote = shortened(one_line(each.text), LINE_LIMIT) if quotes else ""
        lines.append(f"{each.title}: {quote}" if quote else each.title)
        if (link := answer_links.get(each.question_id or "")) is not None:
            lines.append(link)
    return "\n".join(lines)


def quoted(text: str) -> str:
    """The text as a notification quotes it: masked, then shortened."""
    return shortened(mask(text[:READ_LIMIT]).strip(), TEXT_LIMIT)


def _kind_of(attention: Attention | None) -> NotificationKind | None:
    match attention:
        case Attention.FAILED:
            return NotificationKind.FAILED
        case Attention.FINISHED:
            return NotificationKind.FINISHED
    return None


def _title(name: str, verb: str) -> str:
    return f"{shortened(one_line(mask(name)), TITLE_LIMIT - len(verb) - 1)} {verb}"


def _question_lines(question: Question) -> list[str]:
    lines = [question.title]
    if question.tool_input:
        command = question.tool_input.get("command")
        call = command if isinstance(command, str) else json.dumps(dict(question.tool_input))
        # A short call is already quoted in the title.
        lines += [] if call in question.title else [call]
    lines += [question.detail] if question.detail else []
    return lines + [f"- {option.label}" for option in question.options]
