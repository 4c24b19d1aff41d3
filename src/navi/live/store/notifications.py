"""Notifications: stored with the change that causes them, claimed by one server, sent once.

A claim is a lease: it sets `due_at` to the lease's end, so if the server dies, the row becomes due
again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)

from navi.base.ids import new_id
from navi.base.timestamps import instant
from navi.live.model.input import Origin
from navi.live.model.notification import (
    Delivery,
    Notification,
    NotificationKind,
    NotificationState,
    digest,
    still_applies,
)
from navi.live.model.notification_rules import (
    NO_CHANNEL,
    QUIET,
    Circumstances,
    Hold,
    Rules,
    Send,
    Skip,
    decide,
)
from navi.live.model.question import QuestionKind, QuestionState
from navi.live.store.damage import set_aside
from navi.live.store.engine import signals
from navi.live.store.engine.mappers import SESSIONS, session_of
from navi.live.store.engine.tables import (
    message_queue,
    questions,
    sessions,
    turns,
)
from navi.live.store.engine.tables import notifications as table

BATCH = 16
"""How many due rows to read in one query. Usually the first one is sent."""
UNCLAIMED_FOR = timedelta(days=1)
"""If no server has claimed a notification for this long, none has a channel for it."""
KEPT_FOR = timedelta(days=30)
PRESENT = ("page", "sm", "terminal")
"""An answer given here shows that the person is at the machine and needs no notification."""

_IS_WAITING = table.c.state == NotificationState.WAITING.value
_ORDER = (table.c.importance.desc(), table.c.created_at, table.c.id)
_EXISTS = select(table.c.id).where(table.c.id == bindparam("notification_id"))


@dataclass(frozen=True, slots=True)
class Claim:
    """A notification that this process sends until its lease ends."""

    notification: Notification
    channels: Sequence[str]
    members: Sequence[Notification] = ()
    """The notifications in a digest."""
    question_kinds: Mapping[str, QuestionKind] = field(default_factory=dict)
    """The kinds of the open questions, by question id."""


def add(connection: Connection, new: Notification) -> None:
    """Store a notification, unless the same change has already caused one."""
    if connection.execute(_EXISTS, {"notification_id": new.id}).one_or_none() is not None:
        return
    connection.execute(insert(table).values(**_values(new)))
    if new.due_at <= new.created_at:
        # Later ones are found by the regular check.
        signals.send(connection, signals.NOTIFICATIONS)


def next_due(connection: Connection, users: Collection[str]) -> datetime | None:
    """When the next waiting notification of these users is due."""
    query = select(func.min(table.c.due_at)).where(_IS_WAITING, table.c.user_id.in_(users))
    at: datetime | None = connection.execute(query).scalar_one()
    return at


def claim(
    connection: Connection, rules: Rules, now: datetime, lease_until: datetime
) -> Claim | None:
    """Claim the most important notification that is due; None if there is none to send."""
    while due := _due(connection, now, _is_for(rules), limit=BATCH):
        for notification in due:
            claim = _settle(connection, notification, rules, now, lease_until)
            if claim is not None:
                return claim
    return None


def claim_one(
    connection: Connection, rules: Rules, now: datetime, lease_until: datetime
) -> Claim | None:
    """Like `claim`, but handles only the first due row, and sets it aside if that fails."""
    try:
        with connection.begin_nested():
            due = _due(connection, now, _is_for(rules), limit=1)
            return _settle(connection, due[0], rules, now, lease_until) if due else None
    except Exception as error:
        if not set_aside.is_damage(connection, error):
            raise
        why = set_aside.reason_of(error)
    query = select(table.c.id, table.c.session_id).where(_IS_WAITING, table.c.due_at <= now)
    row = connection.execute(query.where(_is_for(rules)).order_by(*_ORDER).limit(1)).one()
    set_aside.record(connection, "notification", set_aside.Reference(*row), why, now)
    connection.execute(delete(table).where(table.c.id == row.id))
    return None


def record(
    connection: Connection,
    claim: Claim,
    results: Mapping[str, Delivery],
    retry_at: datetime | None,
) -> None:
    """Record the results of sending a claimed notification.

    If `retry_at` is given, it is sent again at that time. Does nothing if the lease has ended and
    another process has claimed it.
    """
    notification = claim.notification
    deliveries = {**notification.deliveries, **results}
    sent = [each.sent_at for each in deliveries.values() if each.sent_at is not None]
    errors = replace(notification, deliveries=deliveries).errors
    changes: dict[str, Any] = {"deliveries": _deliveries_json(deliveries)}
    changes["reason"] = errors[0] if errors else None
    changes["sent_at"] = min(sent, default=None)
    if retry_at is not None:
        changes["due_at"] = retry_at
    else:
        state = NotificationState.FAILED if errors else NotificationState.SENT
        changes["state"] = state.value
    is_ours = _IS_WAITING, table.c.attempts == notification.attempts
    connection.execute(
        update(table).where(table.c.id == notification.id, *is_ours).values(**changes)
    )


def list_notifications(
    connection: Connection,
    *,
    user_id: str | None,
    state: NotificationState | None = None,
    limit: int = 200,
) -> list[Notification]:
    """The notifications of one user, or of all, newest first."""
    query = select(table).order_by(table.c.created_at.desc(), table.c.id).limit(limit)
    if user_id is not None:
        query = query.where(table.c.user_id == user_id)
    if state is not None:
        query = query.where(table.c.state == state.value)
    return [notification_of(row) for row in connection.execute(query)]


def tidy(connection: Connection, rules: Rules, now: datetime) -> None:
    """Skip notifications that no server has a channel for, and delete old ones."""
    is_unclaimed = table.c.attempts == 0, table.c.due_at < now - UNCLAIMED_FOR
    connection.execute(
        update(table)
        .where(_IS_WAITING, *is_unclaimed, table.c.user_id.not_in(rules.users))
        .values(state=NotificationState.SKIPPED.value, reason=NO_CHANNEL)
    )
    connection.execute(delete(table).where(table.c.created_at < now - KEPT_FOR, ~_IS_WAITING))


def _is_for(rules: Rules) -> ColumnElement[bool]:
    return table.c.user_id.in_(rules.users)


def _settle(
    connection: Connection,
    notification: Notification,
    rules: Rules,
    now: datetime,
    lease_until: datetime,
) -> Claim | None:
    """Claim, postpone or skip a row that is due."""
    match _decide(connection, notification, rules, now):
        case Skip(why):
            _skip(connection, notification, why)
        case Hold(until, why):
            _change(connection, notification, due_at=until, reason=why)
        case Send(channels):
            return _claim(connection, notification, channels, rules, now, lease_until)
    return None


def _due(
    connection: Connection, now: datetime, *conditions: Any, limit: int | None = None
) -> list[Notification]:
    """Rows that are due and that no other process is claiming, most important first."""
    query = (
        select(table)
        .where(_IS_WAITING, table.c.due_at <= now, *conditions)
        .order_by(*_ORDER)
        .limit(limit)
        .with_for_update(key_share=True, skip_locked=True)
    )
    return [notification_of(row) for row in connection.execute(query)]


def _decide(
    connection: Connection, notification: Notification, rules: Rules, now: datetime
) -> Send | Hold | Skip:
    active_at = None
    if rules.active_for:
        active_at = last_active_at(connection, notification.user_id, now - rules.active_for)
    circumstances = Circumstances(_still_applies(connection, notification), active_at)
    return decide(notification, circumstances, rules, now)


def _still_applies(connection: Connection, notification: Notification) -> bool:
    session = None
    if notification.session_id is not None:
        query = SESSIONS.where(sessions.c.id == notification.session_id)
        row = connection.execute(query).one_or_none()
        session = None if row is None else session_of(row)
    is_open = bool(_open_questions(connection, [notification]))
    return still_applies(notification, session, is_question_open=is_open)


def _open_questions(
    connection: Connection, among: Sequence[Notification]
) -> dict[str, QuestionKind]:
    """The open questions among those that these notifications are about, with their kinds."""
    ids = [each.question_id for each in among if each.question_id is not None]
    if not ids:
        return {}
    query = select(questions.c.id, questions.c.kind).where(
        questions.c.id.in_(ids), questions.c.state == QuestionState.OPEN.value
    )
    return {row.id: QuestionKind(row.kind) for row in connection.execute(query)}


def last_active_at(connection: Connection, user_id: str, since: datetime) -> datetime | None:
    """When the user last wrote or answered here, if that was after `since`.

    An answer through a notification's link doesn't count: that person is elsewhere.
    """
    is_theirs = sessions.c.user_id == user_id
    wrote = message_queue.c.queued_at > since, message_queue.c.origin == Origin.USER.value
    delivered = (
        select(func.max(message_queue.c.queued_at))
        .join_from(sessions, turns, turns.c.session_id == sessions.c.id)
        .join(message_queue, message_queue.c.turn_id == turns.c.id)
        .where(is_theirs, sessions.c.updated_at > since, turns.c.started_at > since, *wrote)
    )
    waiting = (
        select(func.max(message_queue.c.queued_at))
        .join_from(sessions, message_queue, message_queue.c.session_id == sessions.c.id)
        .where(is_theirs, message_queue.c.delivered_at.is_(None), *wrote)
    )
    answered = (
        select(func.max(questions.c.answered_at))
        .join_from(sessions, questions, questions.c.session_id == sessions.c.id)
        .where(is_theirs, sessions.c.updated_at > since, questions.c.answered_at > since)
        .where(questions.c.answered_via.in_(PRESENT), questions.c.answered_by == user_id)
    )
    instants = [connection.execute(query).scalar_one() for query in (delivered, waiting, answered)]
    return max((at for at in instants if at is not None), default=None)


def _claim(
    connection: Connection,
    notification: Notification,
    channels: Sequence[str],
    rules: Rules,
    now: datetime,
    lease_until: datetime,
) -> Claim | None:
    is_digest = notification.kind is NotificationKind.DIGEST
    if notification.reason == QUIET and not is_digest:
        chosen = _after_quiet_hours(connection, notification, rules, now)
        if chosen is not notification:
            return _claim(connection, chosen, rules.channels[chosen.kind], rules, now, lease_until)
    members = _members(connection, notification) if is_digest else []
    if is_digest and not members:
        _skip(connection, notification, "everything in it was settled before it was sent")
        return None
    attempts = notification.attempts + 1
    claimed = replace(notification, attempts=attempts, due_at=lease_until)
    _change(connection, notification, attempts=attempts, due_at=lease_until, reason=None)
    kinds = _open_questions(connection, members or [notification])
    return Claim(claimed, channels, members, kinds)


def _after_quiet_hours(
    connection: Connection, first: Notification, rules: Rules, now: datetime
) -> Notification:
    """A new digest of everything held during quiet hours, or `first` itself if nothing else was."""
    waiting = _due(connection, now, table.c.reason == QUIET, table.c.user_id == first.user_id)
    members = []
    for each in waiting:
        decision = _decide(connection, each, rules, now)
        if isinstance(decision, Skip):
            _skip(connection, each, decision.why)
        elif each.kind is not NotificationKind.DIGEST and isinstance(decision, Send):
            members.append(each)
    if len(members) < 2:
        return first
    combined = digest(members, new_id(), now)
    connection.execute(insert(table).values(**_values(combined)))
    for each in members:
        state = NotificationState.IN_DIGEST.value
        _change(connection, each, state=state, digest_id=combined.id, reason=None)
    return combined


def _members(connection: Connection, parent: Notification) -> list[Notification]:
    """The parts of the digest that still apply, most important first."""
    query = select(table).where(table.c.digest_id == parent.id).order_by(*_ORDER)
    members = [notification_of(row) for row in connection.execute(query)]
    return [each for each in members if _still_applies(connection, each)]


def _skip(connection: Connection, notification: Notification, why: str) -> None:
    is_sent = any(each.sent_at for each in notification.deliveries.values())
    state = NotificationState.SENT if is_sent else NotificationState.SKIPPED
    _change(connection, notification, state=state.value, reason=why)


def _change(connection: Connection, notification: Notification, **changes: Any) -> None:
    connection.execute(update(table).where(table.c.id == notification.id).values(**changes))


def _values(notification: Notification) -> dict[str, Any]:
    values = {column.name: getattr(notification, column.name) for column in table.columns}
    return {**values, "deliveries": _deliveries_json(notification.deliveries)}


def _deliveries_json(deliveries: Mapping[str, Delivery]) -> dict[str, Any]:
    return {
        name: {**asdict(each), "sent_at": instant(each.sent_at)}
        for name, each in deliveries.items()
    }


def _deliveries_of(values: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Delivery]]:
    for name, each in values.items():
        sent_at = each["sent_at"]
        at = None if sent_at is None else datetime.fromisoformat(sent_at)
        yield name, Delivery(at, each["error"], each["is_refused"])


def notification_of(row: Row[Any]) -> Notification:
    values = dict(row._mapping)
    return Notification(
        **{
            **values,
            "kind": NotificationKind(row.kind),
            "state": NotificationState(row.state),
            "deliveries": dict(_deliveries_of(row.deliveries)),
        }
    )
