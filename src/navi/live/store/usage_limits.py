"""Stores the usage limits of accounts, and makes inputs wait until a limit resets.

Callers that hold a lane lock an account after it, never the other way round.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from navi.base.errors import NotAllowed, NotFound
from navi.base.timestamps import instant
from navi.live.model.access.user import User
from navi.live.model.event import UsageWindow
from navi.live.model.session import Session
from navi.live.model.turn import Ending, Turn
from navi.live.model.usage_limit import (
    UNNAMED_KIND,
    Account,
    AccountLimit,
    LimitReport,
    RetryPolicy,
    after_giving_up,
    after_lifting,
    after_limit,
    after_success,
    report,
    reports,
    take_slot,
)
from navi.live.model.wire_format import input_json, limit_json
from navi.live.store import sessions
from navi.live.store.engine.tables import account_limits, lanes, message_queue
from navi.live.store.events import emit
from navi.live.store.input_queue import hold_inputs, list_inputs, release_inputs
from navi.live.store.lanes import Lane, lock

_GET = select(account_limits).where(account_limits.c.account == bindparam("account_id"))
_GET_LOCKED = _GET.with_for_update()
_WAITS = (message_queue.c.limit_account.is_not(None), message_queue.c.delivered_at.is_(None))


class AccountNotFound(NotFound):
    kind = "account_not_found"

    def __init__(self, account_id: str) -> None:
        super().__init__(
            f"no usage limit is known for {account_id}", hint="GET /limits lists the accounts"
        )


def find(connection: Connection, account: Account) -> AccountLimit | None:
    row = connection.execute(_GET, {"account_id": account.id}).one_or_none()
    return None if row is None else _limit(row)


def record_limit(
    connection: Connection, turn: Turn, account: Account, ending: Ending, now: datetime
) -> datetime | None:
    """Record that the turn met a limit. Returns when its session may continue.

    None if the vendor named no reset, and too many retries have failed.
    """
    limit = _locked(connection, account)
    kind = ending.limit_kind or UNNAMED_KIND
    limited = after_limit(limit, kind, ending.resets_at, now, turn.retry)
    if limited is None:
        _store(connection, turn.session.id, after_giving_up(limit, now), now)
        return None
    slot = _slot_of(turn.session, limited, now)
    if slot is None:
        slot, limited = take_slot(limited, turn.retry)
    _store(connection, turn.session.id, limited, now)
    return slot


def record_limit_in_terminal(
    connection: Connection,
    session: Session,
    account: Account,
    ending: Ending,
    policy: RetryPolicy,
    now: datetime,
) -> None:
    """Record that an agent met a limit in a terminal, where nothing continues by itself."""
    limit = _locked(connection, account)
    kind = ending.limit_kind or UNNAMED_KIND
    limited = after_limit(limit, kind, ending.resets_at, now, policy)
    _store(connection, session.id, limited or after_giving_up(limit, now), now)


def record_success(connection: Connection, turn: Turn, account: Account, now: datetime) -> None:
    """Record that the turn met no limit."""
    limit = _locked(connection, account)
    if (after := after_success(limit, turn.started_at)) != limit:
        _store(connection, turn.session.id, after, now)


def hold(
    connection: Connection, lane: Lane, limit: AccountLimit, policy: RetryPolicy, now: datetime
) -> Lane:
    """Make the session's inputs wait for the limit, which is in force. Returns the lane.

    The session gets one of the slots in which sessions continue after the reset.
    """
    slot = _slot_of(lane.session, limit, now)
    if slot is None:
        limit = _locked(connection, limit.account)
        if not limit.is_in_force(now):
            return lane  # it was lifted just now
        slot, limit = take_slot(limit, policy)
        _write(connection, limit)
    held_ids = [
        each.id
        for each in list_inputs(connection, lane.session.id)
        if each.is_deliverable(now) and limit.holds(each, now)
    ]
    hold_inputs(connection, lane.session.id, held_ids, limit.account.id, slot, now)
    session = sessions.change(connection, lane.session.id, {"limit_until": slot}, now)
    _announce(connection, session.id, limit, now)
    return Lane(session, lane.turn_id, lane.fence, lane.next_idx, lane.next_ordinal)


def record_window(connection: Connection, turn: Turn, window: UsageWindow, now: datetime) -> None:
    """Record how much of an allowance the turn's account has used."""
    limit = _locked(connection, turn.account or Account.of(turn.session))
    if limit.windows.get(window.kind) == window:
        return
    windows = {**limit.windows, window.kind: window}
    changed = AccountLimit(**{**_fields(limit), "windows": windows})
    _write(connection, changed)
    _announce(connection, turn.session.id, changed, now, window.kind)


def list_limits(connection: Connection, user: User, now: datetime) -> list[LimitReport]:
    """The limits of the user's accounts and of shared ones; all limits, for an admin."""
    query = select(account_limits).order_by(account_limits.c.account)
    if not user.is_admin:
        mine = (account_limits.c.user_id == user.id, account_limits.c.user_id.is_(None))
        query = query.where(or_(*mine))
    counts = _waiting_by_account(connection, None if user.is_admin else user.id)
    return [
        each
        for limit in map(_limit, connection.execute(query))
        for each in reports(limit, counts.get(limit.account.id, 0), now)
    ]


def lift(connection: Connection, user: User, account_id: str | None) -> list[str]:
    """Forget the limit of an account, or of all the user's accounts. Returns the accounts' ids.

    Their inputs wait until `release` is called for their sessions.
    """
    query = select(account_limits).with_for_update().order_by(account_limits.c.account)
    if account_id is not None:
        query = query.where(account_limits.c.account == account_id)
    limits = [_limit(row) for row in connection.execute(query)]
    visible = [each for each in limits if _may_see(user, each.account)]
    if account_id is not None and not visible:
        raise AccountNotFound(account_id)
    own = [each for each in visible if user.is_admin or each.account.user_id == user.id]
    if account_id is not None and not own:
        raise NotAllowed(
            f"all users share {account_id}", hint="ask an admin of this server to ignore its limit"
        )
    for each in own:
        _write(connection, after_lifting(each))
    return [each.account.id for each in own]


def waiting_sessions(connection: Connection, account_ids: Collection[str]) -> Sequence[str]:
    """The sessions with inputs that wait for a limit of these accounts."""
    query = (
        select(message_queue.c.session_id)
        .distinct()
        .where(*_WAITS, message_queue.c.limit_account.in_(account_ids))
    )
    return connection.execute(query.order_by(message_queue.c.session_id)).scalars().all()


def release(
    connection: Connection, session_id: str, account_ids: Collection[str], now: datetime
) -> None:
    """Release the session's inputs that wait for a limit of these accounts."""
    lane = lock(connection, session_id)
    now = lane.clamp(now)
    released = release_inputs(connection, session_id, account_ids, now)
    if not released:
        return
    items = [("input_queued", {"input": input_json(each)}) for each in released]
    emit(connection, session_id, None, items, now)
    sessions.change(connection, session_id, {"limit_until": None}, now)
    for account_id in account_ids:
        row = connection.execute(_GET, {"account_id": account_id}).one()
        _announce(connection, session_id, _limit(row), now)


def _slot_of(session: Session, limit: AccountLimit, now: datetime) -> datetime | None:
    """The slot that the session already has; None if it has none from `retry_at` on."""
    assert limit.retry_at is not None
    at = session.limit_until
    return at if at is not None and at > now and at >= limit.retry_at else None


def _may_see(user: User, account: Account) -> bool:
    return account.user_id is None or user.may_touch(account.user_id)


def _locked(connection: Connection, account: Account) -> AccountLimit:
    """The account's row, locked; created on first use."""
    row = connection.execute(_GET_LOCKED, {"account_id": account.id}).one_or_none()
    if row is None:
        new = AccountLimit(account)
        try:
            with connection.begin_nested():
                connection.execute(insert(account_limits).values(**_values(new)))
            return new
        except IntegrityError:  # another server was faster
            row = connection.execute(_GET_LOCKED, {"account_id": account.id}).one()
    return _limit(row)


def _store(connection: Connection, session_id: str, limit: AccountLimit, now: datetime) -> None:
    _write(connection, limit)
    _announce(connection, session_id, limit, now)


def _write(connection: Connection, limit: AccountLimit) -> None:
    connection.execute(
        update(account_limits)
        .where(account_limits.c.account == limit.account.id)
        .values(**_values(limit))
    )


def _announce(
    connection: Connection,
    session_id: str,
    limit: AccountLimit,
    now: datetime,
    kind: str | None = None,
) -> None:
    """Announce the account's limit in the session that learned of the change."""
    count = _waiting_by_account(connection, limit.account.user_id).get(limit.account.id, 0)
    changed = report(limit, kind or limit.kind or UNNAMED_KIND, count, now)
    emit(connection, session_id, None, [("limit_update", {"limit": limit_json(changed)})], now)


def _waiting_by_account(connection: Connection, user_id: str | None) -> dict[str, int]:
    """How many inputs of the user, or of all users, wait for each account."""
    query = (
        select(message_queue.c.limit_account, func.count())
        .join(lanes, lanes.c.session_id == message_queue.c.session_id)
        .where(*_WAITS)
        .group_by(message_queue.c.limit_account)
    )
    if user_id is not None:
        query = query.where(lanes.c.user_id == user_id)
    rows: Any = connection.execute(query).all()
    return dict(rows)


def _fields(limit: AccountLimit) -> dict[str, Any]:
    return {name: getattr(limit, name) for name in AccountLimit.__dataclass_fields__}


def _values(limit: AccountLimit) -> dict[str, Any]:
    account = limit.account
    values = {
        **_fields(limit),
        "account": account.id,
        "agent": account.agent,
        "user_id": account.user_id,
    }
    windows = {
        kind: {**asdict(window), "resets_at": instant(window.resets_at)}
        for kind, window in limit.windows.items()
    }
    return {**values, "windows": windows}


def _limit(row: Row[Any]) -> AccountLimit:
    values = dict(row._mapping)
    account = Account(values["account"], values.pop("agent"), values.pop("user_id"))
    windows = {
        kind: UsageWindow(kind, window["used_percent"], _instant(window["resets_at"]))
        for kind, window in values["windows"].items()
    }
    return AccountLimit(**{**values, "account": account, "windows": windows})


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
