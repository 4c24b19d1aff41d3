"""Begins, extends and finishes turns, and closes those whose process died.

A turn belongs to the process that owns its session's lane. After a take-over, the fence keeps the
earlier process from extending the turn.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo

from sqlalchemy import Connection, bindparam, exists, insert, select, update

from navi.base.errors import FenceLost
from navi.live.model.access.quota import UNLIMITED, Limits
from navi.live.model.access.user import User
from navi.live.model.attention import after_turn, attention_of
from navi.live.model.budget import (
    NOTHING,
    Amount,
    Budget,
    Scope,
    day_of,
    question_about,
    why_exhausted,
)
from navi.live.model.event import HistoryCompacted, Payload, TurnEvent, Usage, turn_event
from navi.live.model.input import Admission, Answer, Input, NewInput, Origin
from navi.live.model.message import (
    Draft,
    Message,
    Notice,
    drafts_of,
    with_ending,
    with_new_ending,
)
from navi.live.model.notification import of_turn
from navi.live.model.question import question_id as question_id_of
from navi.live.model.session import Session, SessionState, Transition
from navi.live.model.turn import SERVER_STOPPED, Ending, Outcome, RunningTurn, StopReason, Turn
from navi.live.model.usage_limit import (
    DEFAULT_RETRY,
    Account,
    RetryPolicy,
    continuation,
    continued_inputs,
    gave_up_words,
)
from navi.live.model.wire_format import input_json, message_json, session_json
from navi.live.store import (
    budgets,
    events,
    input_queue,
    notices,
    notifications,
    origins,
    questions,
    sessions,
    terminals,
    transcript,
    usage_limits,
)
from navi.live.store.access import users
from navi.live.store.engine.tables import lanes, message_queue, turns
from navi.live.store.lanes import Lane, lock
from navi.live.store.scheduling import automation_runs, recalls, reminders

NOTHING_TO_DO = "there was nothing to do"
_INSERT = insert(turns)
_TAKE_LANE = (
    update(lanes)
    .where(lanes.c.session_id == bindparam("key"))
    .values(
        turn_id=bindparam("new_turn"),
        fence=bindparam("new_fence"),
        owner=bindparam("new_owner"),
        lease_until=bindparam("new_lease"),
        next_idx=lanes.c.next_idx + bindparam("count"),
    )
)
_FREE_LANE = (
    update(lanes)
    .where(lanes.c.session_id == bindparam("key"))
    .values(turn_id=None, owner=None, lease_until=None, next_idx=bindparam("new_idx"))
    .returning(
        exists().where(
            message_queue.c.session_id == lanes.c.session_id, message_queue.c.delivered_at.is_(None)
        )
    )
)
_COUNT_EVENTS = (
    update(turns)
    .where(turns.c.id == bindparam("turn_id"), turns.c.event_count == bindparam("stored_count"))
    .values(event_count=bindparam("stored_count") + bindparam("more"))
)
_FINISH = (
    update(turns)
    .where(turns.c.id == bindparam("turn_id"), turns.c.event_count == bindparam("stored_count"))
    .values(
        event_count=bindparam("stored_count") + bindparam("more"),
        outcome=bindparam("ended_as"),
        error=bindparam("failure"),
        message_id=bindparam("answer"),
        ended_at=bindparam("now"),
        input_tokens=bindparam("tokens_in"),
        output_tokens=bindparam("tokens_out"),
        cache_read_tokens=bindparam("tokens_read"),
        cache_creation_tokens=bindparam("tokens_written"),
    )
    .returning(turns.c.stop_reason)
)


@dataclass(frozen=True, slots=True)
class TurnStart:
    """A turn that this process has begun or taken over, and what its agent needs."""

    turn: Turn
    user: User
    history: Sequence[Message]
    stored_events: Sequence[TurnEvent] = ()
    """The turn's events so far, if it was taken over."""
    has_notified: bool = False
    """Whether beginning the turn queued notices in other sessions."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A process's attempt to begin a turn or to take one over."""

    turn_id: str
    owner: str
    lease_until: datetime
    now: datetime
    origins: frozenset[Origin] = frozenset(Origin)
    """The origins for which the process holds a free slot."""
    user_id: str | None = None
    """The user for whom the slots are held, who must be the session's user; None for any user."""
    zone: tzinfo = UTC
    """The time zone in which prompts show times."""
    is_hand_over: bool = False
    """Whether the terminal in which the session is open requests the turn."""
    shared_drivers: Collection[str] | None = None
    """The drivers whose sessions may be open in people's terminals; None for all drivers."""
    account_of: Callable[[Session], Account] = Account.of
    retry: RetryPolicy = DEFAULT_RETRY
    """When to try again after a usage limit."""
    usual_day: Amount = NOTHING
    """The default daily allowance of a user."""


def admit(
    connection: Connection,
    new: NewInput,
    sender: User | None,
    claim: Claim,
    limits: Limits = UNLIMITED,
) -> tuple[Admission, TurnStart | None]:
    """Store the input and, if its session is free, begin the next turn."""
    lane = lock(connection, new.session_id)
    admission, admitted, lane = input_queue.admit_in_lane(
        connection, lane, new, claim.now, sender, limits
    )
    if lane.turn_id is not None and lane.turn_id != claim.turn_id:
        return admission, None
    is_next = admission.position == 0 and not admission.delivered
    start = _begin(connection, lane, claim, admitted if is_next else None, sender)
    if start is not None and new.id in {each.id for each in start.turn.inputs}:
        admission = replace(admission, delivered=True, position=0)
    return admission, start


def begin(connection: Connection, session_id: str, claim: Claim) -> TurnStart | None:
    """Take the lane and deliver the next input to a new turn; None if that isn't possible."""
    return _begin(connection, lock(connection, session_id), claim)


def _begin(
    connection: Connection,
    lane: Lane,
    claim: Claim,
    admitted: Input | None = None,
    user: User | None = None,
) -> TurnStart | None:
    session_id, turn_id = lane.session.id, claim.turn_id
    if lane.turn_id == turn_id:
        return _earlier_start(connection, lane, claim)
    if lane.turn_id is not None or claim.user_id not in (None, lane.session.user_id):
        return None
    if not claim.is_hand_over and _is_open_elsewhere(connection, lane.session, claim):
        return None
    lane, chosen, was_limited = _choose(connection, lane, claim, admitted)
    if chosen is None:
        return None
    # An input that was admitted just now has no followers.
    joined = [] if chosen is admitted else input_queue.followers(connection, chosen, claim.now)
    fence = lane.fence + 1
    now = max([lane.clamp(claim.now), *(each.queued_at or claim.now for each in (chosen, *joined))])
    connection.execute(
        _TAKE_LANE,
        {
            "key": session_id,
            "new_turn": turn_id,
            "new_fence": fence,
            "new_owner": claim.owner,
            "new_lease": claim.lease_until,
            "count": 1 + len(joined),
        },
    )
    connection.execute(_INSERT, _new_turn(turn_id, session_id, fence, chosen.origin, now))
    delivered = [input_queue.deliver(connection, each, turn_id, now) for each in (chosen, *joined)]
    delivered[0] = origins.turn_began(connection, delivered[0], now, claim.zone)
    for idx, each in enumerate(delivered, start=lane.next_idx):
        transcript.add_input(connection, each, idx, now)
    session = _unpaused(connection, lane, now).without_past_limit(now)
    session = sessions.move(connection, session, _beginning(session), now)
    texts = [(each.text, each.origin) for each in delivered if "notice" not in each.metadata]
    session = sessions.set_opening(connection, session, texts, now)
    start = _turn_start(connection, session, delivered, claim, fence, now, user, was_limited)
    begun = {"origin": chosen.origin.value, "is_recall": chosen.origin is Origin.RECALL}
    events.emit(
        connection,
        session_id,
        turn_id,
        [
            *(("input_delivered", {"input": input_json(each)}) for each in delivered),
            ("stream_start", {**begun, "attention": attention_of(session)}),
        ],
        now,
    )
    reminders.register_delivered(connection, delivered, now)
    return replace(
        start, has_notified=notices.notify_delivered(connection, session, delivered, now)
    )


def _unpaused(connection: Connection, lane: Lane, now: datetime) -> Session:
    """End the session's wait for a budget, if it waits for one. Returns the session."""
    if lane.session.paused_by is None:
        return lane.session
    lane = questions.withdraw_about_budget(connection, lane, now)
    return sessions.change(connection, lane.session.id, budgets.UNPAUSED, now)


def _beginning(session: Session) -> Transition:
    # A question can stay open while other inputs have their turns.
    is_waiting = session.state is SessionState.WAITING
    return Transition.AGENT_GOES_ON if is_waiting else Transition.TURN_BEGINS


def extend(
    connection: Connection,
    turn: Turn,
    stored_count: int,
    new_events: Sequence[TurnEvent],
    now: datetime,
) -> None:
    """Store new events of the turn, which has `stored_count` already."""
    count = {"turn_id": turn.id, "stored_count": stored_count, "more": len(new_events)}
    if not connection.execute(_COUNT_EVENTS, count).rowcount:
        # Already stored by a commit whose reply got lost.
        return
    events.emit(connection, turn.session.id, turn.id, _items(new_events), now, fence=turn.fence)
    if any(isinstance(event, HistoryCompacted) for event in new_events):
        reminders.end_compaction(connection, turn.session.id, now)


def set_asking(connection: Connection, turn: Turn, is_asking: bool, now: datetime) -> None:
    """Set whether the turn waits for a person's answer."""
    state = SessionState.WAITING if is_asking else SessionState.RUNNING
    lane = lock(connection, turn.session.id)
    is_waiting = lane.session.waiting_for is not None
    if (lane.turn_id, lane.fence) == (turn.id, turn.fence) and not is_waiting:
        sessions.bring_to(connection, lane, state, now)


def finish(
    connection: Connection,
    turn: Turn,
    stored_count: int,
    new_events: Sequence[TurnEvent],
    drafts: Sequence[Draft],
    ending: Ending,
    usage: Usage,
    now: datetime,
) -> None:
    """Store the last events and the turn's messages, free the lane, and announce the end."""
    lane = lock(connection, turn.session.id)
    if lane.turn_id != turn.id and _is_ending(connection, turn.id, ending):
        # Already stored by a commit whose reply got lost.
        return
    if (lane.turn_id, lane.fence) != (turn.id, turn.fence):
        raise FenceLost(turn.session.id)
    rest = _Rest(stored_count, _items(new_events), drafts, usage)
    if ending.outcome is Outcome.LIMIT:
        _finish_limited(connection, lane, turn, rest, ending, now)
    else:
        _conclude(connection, lane, turn.inputs, turn.id, rest, ending, now)
        if turn.was_limited and ending.outcome not in (Outcome.ERROR, Outcome.STOPPED):
            account = turn.account or Account.of(turn.session)
            usage_limits.record_success(connection, turn, account, now)
    budgets.count(connection, turn, usage, lane.clamp(now))


def take_over(connection: Connection, dead: RunningTurn, claim: Claim) -> TurnStart | None:
    """Continue a turn whose process is gone but whose agent still runs.

    None if another process was faster, or this one has no free slot.
    """
    lane = lock(connection, dead.session_id)
    owner = connection.execute(
        select(lanes.c.owner).where(lanes.c.session_id == dead.session_id)
    ).scalar_one()
    # The second pair is our own take-over, after a commit whose reply got lost.
    if lane.turn_id != dead.id or (lane.fence, owner) not in (
        (dead.fence, dead.owner),
        (dead.fence + 1, claim.owner),
    ):
        return None
    delivered = input_queue.delivered_to(connection, dead.id)
    if delivered[0].origin not in claim.origins:
        return None
    fence = dead.fence + 1
    started_at = connection.execute(
        update(turns).where(turns.c.id == dead.id).values(fence=fence).returning(turns.c.started_at)
    ).scalar_one()
    connection.execute(
        update(lanes)
        .where(lanes.c.session_id == dead.session_id)
        .values(fence=fence, owner=claim.owner, lease_until=claim.lease_until)
    )
    claim = replace(claim, turn_id=dead.id)
    start = _turn_start(connection, lane.session, delivered, claim, fence, started_at)
    return replace(start, stored_events=_stored_events(connection, dead))


def _finish_limited(
    connection: Connection, lane: Lane, turn: Turn, rest: _Rest, ending: Ending, now: datetime
) -> None:
    """End a turn that met a usage limit. Its work continues once the limit has reset.

    A turn that has produced nothing is undone, and its inputs wait. Otherwise its messages stay,
    and a new input asks the agent to continue, so that it does nothing twice.
    """
    now = lane.clamp(now)
    account = turn.account or Account.of(turn.session)
    retry_at = usage_limits.record_limit(connection, turn, account, ending, now)
    query = select(turns.c.stop_reason).where(turns.c.id == turn.id)
    had_stop_request = connection.execute(query).scalar_one() is not None
    if had_stop_request or lane.session.state is SessionState.STOPPED:
        _conclude(connection, lane, turn.inputs, turn.id, rest, ending, now)
    elif retry_at is None:
        final = replace(ending, error=gave_up_words(ending.error, turn.retry.max_probes))
        must_speak = turn.origin is Origin.AUTOMATION
        drafts = with_new_ending(rest.drafts, ending, final, must_speak=must_speak)
        rest = replace(rest, drafts=drafts)
        _conclude(connection, lane, turn.inputs, turn.id, rest, final, now)
    elif rest.stored_count == 0 and not rest.items:
        rest = replace(rest, drafts=())
        _give_back(connection, lane, turn.id, rest, ending, now, (account.id, retry_at))
    else:
        new = continuation(turn.id, turn.inputs, retry_at, account)
        _conclude(connection, lane, turn.inputs, turn.id, rest, ending, now, continued_by=new)


def close_dead(
    connection: Connection, dead: RunningTurn, now: datetime, why: str = SERVER_STOPPED
) -> bool:
    """End a turn whose process is gone, or whose input did not reach its agent.

    If the turn produced nothing and was not asked to stop, its inputs are queued again. False if
    another process was faster.
    """
    lane = lock(connection, dead.session_id)
    if lane.turn_id != dead.id or lane.fence != dead.fence:
        return False
    row = connection.execute(
        select(turns.c.event_count, turns.c.stop_reason).where(turns.c.id == dead.id)
    ).one()
    # A turn that was asked to stop has ended as requested, and must not run again.
    had_stop_request = row.stop_reason is not None
    ending = Ending(Outcome.STOPPED) if had_stop_request else Ending(Outcome.ERROR, why)
    rest = _Rest(row.event_count)
    if row.event_count == 0 and not had_stop_request:
        _give_back(connection, lane, dead.id, rest, ending, now)
        return True
    inputs = input_queue.delivered_to(connection, dead.id)
    drafts = drafts_of(_stored_events(connection, dead))
    must_speak = inputs[0].origin is Origin.AUTOMATION
    rest = replace(rest, drafts=with_ending(drafts, ending, must_speak=must_speak))
    _conclude(connection, lane, inputs, dead.id, rest, ending, now)
    return True


def drop(connection: Connection, idle: RunningTurn, now: datetime) -> None:
    """Undo a turn that found nothing to do, and remove its inputs from the queue."""
    inputs = input_queue.delivered_to(connection, idle.id)
    is_closed = close_dead(connection, idle, now, NOTHING_TO_DO)
    if not is_closed or input_queue.delivered_to(connection, idle.id):
        # Another process was faster, or a stop request ended the turn.
        return
    for each in inputs:
        input_queue.remove(connection, each.session_id, each.id, now)
        automation_runs.remove_idle_run(connection, each, now)


def answer(connection: Connection, session_id: str, input_id: str) -> Answer:
    """The input's progress, and the agent's answer to it."""
    turn_id = input_queue.get(connection, session_id, input_id).turn_id
    if turn_id is None:
        return Answer(input_id, "queued")
    row = connection.execute(select(turns).where(turns.c.id == turn_id)).one()
    if row.outcome is None:
        return Answer(input_id, "running", turn_id)
    text = None if row.message_id is None else transcript.content(connection, row.message_id)
    return Answer(input_id, "done", turn_id, row.outcome, row.error, text, row.ended_at)


@dataclass(frozen=True, slots=True)
class _Rest:
    """What is left to store when a turn ends."""

    stored_count: int
    """How many of the turn's events are stored already."""
    items: Sequence[tuple[str, Payload]] = ()
    drafts: Sequence[Draft] = ()
    usage: Usage = field(default_factory=Usage)


def _give_back(
    connection: Connection,
    lane: Lane,
    turn_id: str,
    rest: _Rest,
    ending: Ending,
    now: datetime,
    limit: tuple[str, datetime] | None = None,
) -> None:
    """Undo the turn: remove its messages and queue its inputs again.

    `limit` is the account whose usage limit they wait for, and when they may continue.
    """
    now = lane.clamp(now)
    indexes = transcript.take_back(connection, turn_id)
    # Reuse the indexes, unless notices were added after the turn's messages.
    next_idx = min(indexes) if max(indexes) + 1 == lane.next_idx else lane.next_idx
    requeued = input_queue.give_back(connection, turn_id, limit)
    for each in requeued:
        origins.turn_undone(connection, each, now)
        if limit is not None:
            origins.turn_limited(connection, each, ending, now)
    lane = replace(lane, next_idx=next_idx)
    _conclude(connection, lane, (), turn_id, rest, ending, now, requeued=requeued)
    items = [("input_queued", {"input": input_json(each)}) for each in requeued]
    events.emit(connection, lane.session.id, None, items, now)


def _conclude(
    connection: Connection,
    lane: Lane,
    inputs: Sequence[Input],
    turn_id: str,
    rest: _Rest,
    ending: Ending,
    now: datetime,
    requeued: Sequence[Input] = (),
    continued_by: NewInput | None = None,
) -> None:
    """End a turn: store what is left of it, settle its inputs and free the lane.

    Its inputs are not done yet if they were requeued, or if `continued_by` continues the work.
    """
    now = lane.clamp(now)
    lane = questions.withdraw_all(connection, lane, now, turn_id=turn_id)
    if ending.question is not None:
        lane = questions.ask_in_lane(connection, lane, ending.question, turn_id, now)
    session_id, idx, message_id, answer = lane.session.id, lane.next_idx, None, ""
    if rest.drafts:
        message_id = transcript.add_drafts(
            connection, lane.session, turn_id, inputs[0], rest.drafts, idx, now
        )
        idx += len(rest.drafts)
        answer = rest.drafts[-1].content
    stop_reason = _complete_row(connection, session_id, turn_id, rest, ending, message_id, now)
    if stop_reason == StopReason.CLEARED:
        lane = _begin_new_context(connection, lane, idx, now)
    retry_at = None if ending.outcome is not Outcome.LIMIT else _retry_at(requeued, continued_by)
    if continued_by is not None:
        [continuation] = input_queue.admit_all(connection, [(lane, continued_by)], now)
        origins.turn_limited(connection, continuation, ending, now)
    elif inputs:
        notice_text = origins.turn_ended(connection, inputs[0], ending, message_id, now)
        if notice_text is not None:
            idx = _add_notice(connection, session_id, inputs[0], notice_text, idx, now)
    if lane.session.state is SessionState.STOPPED:
        # The session was killed meanwhile, so a recurring recall has no next wake-up.
        recalls.session_ended(connection, session_id, now)
    # Read the recall again: the lane's lock does not cover it.
    session = replace(lane.session, pending=recalls.pending(connection, session_id))
    if not requeued or retry_at is not None:
        session = after_turn(
            session,
            ending.outcome,
            has_messages=bool(rest.drafts),
            notifies_person=retry_at is None and any(each.notifies_person for each in inputs),
            retry_at=retry_at,
        )
    session = _free_lane(connection, session, turn_id, rest.items, ending, message_id, idx, now)
    if requeued and retry_at is None:
        reminders.turn_undone(connection, session_id, requeued, now)
        return
    reminders.turn_ended(connection, session_id, ending, stop_reason, now)
    if retry_at is None:
        _notify_person(connection, session, turn_id, ending, answer, now)
        answered = _answered(connection, inputs)
        notices.notify_stopped(connection, session, answered, ending, answer, now)


def _retry_at(requeued: Sequence[Input], continued_by: NewInput | None) -> datetime | None:
    """When the work of a turn that met a usage limit continues; None if it doesn't."""
    next_input = continued_by or next(iter(requeued), None)
    return None if next_input is None else next_input.not_before


def _answered(connection: Connection, inputs: Sequence[Input]) -> list[Input]:
    """The inputs that a turn has answered. A continuation answers the inputs that it replaced."""
    return [
        input_queue.get(connection, each.session_id, id) if each.is_continuation else each
        for each in inputs
        for id in continued_inputs([each])
    ]


def _notify_person(
    connection: Connection,
    session: Session,
    turn_id: str,
    ending: Ending,
    answer: str,
    now: datetime,
) -> None:
    if ending.outcome is Outcome.STOPPED:
        # The person or agent who stopped it needs no notification.
        return
    notification = of_turn(session, turn_id, ending.error or answer, now)
    if notification is not None:
        notifications.add(connection, notification)


def _add_notice(
    connection: Connection, session_id: str, about: Input, text: str, idx: int, now: datetime
) -> int:
    """Add a notice about the input to the transcript. Returns the next free index."""
    metadata = {key: value for key, value in about.metadata.items() if not key.startswith("_")}
    notice = Notice(f"{about.id}.ended", text, about.origin, metadata)
    message = transcript.add_notice(connection, session_id, notice, idx, now)
    added = ("message_added", {"message": message_json(message)})
    events.emit(connection, session_id, None, [added], now)
    return idx + 1


def _complete_row(
    connection: Connection,
    session_id: str,
    turn_id: str,
    rest: _Rest,
    ending: Ending,
    message_id: str | None,
    now: datetime,
) -> str | None:
    """Complete the turn's row. Returns the reason for a stop request, if there was one."""
    usage = rest.usage
    values = {
        "turn_id": turn_id,
        "stored_count": rest.stored_count,
        "more": len(rest.items),
        "ended_as": ending.outcome,
        "failure": ending.error,
        "answer": message_id,
        "now": now,
        "tokens_in": usage.input_tokens,
        "tokens_out": usage.output_tokens,
        "tokens_read": usage.cache_read_tokens,
        "tokens_written": usage.cache_creation_tokens,
    }
    row = connection.execute(_FINISH, values).one_or_none()
    if row is None:
        raise FenceLost(session_id)
    stop_reason: str | None = row.stop_reason
    return stop_reason


def _begin_new_context(connection: Connection, lane: Lane, from_idx: int, now: datetime) -> Lane:
    session = sessions.change(connection, lane.session.id, {"context_from_idx": from_idx}, now)
    return replace(lane, session=session)


def _free_lane(
    connection: Connection,
    session: Session,
    turn_id: str,
    items: Sequence[tuple[str, Payload]],
    ending: Ending,
    message_id: str | None,
    next_idx: int,
    now: datetime,
) -> Session:
    """Free the lane and announce the end. Returns the session as it is now."""
    session = sessions.move(connection, session, Transition.TURN_ENDS, now)
    if session.waiting_for is not None:
        session = sessions.move(connection, session, Transition.AGENT_ASKS, now)
    has_queue = connection.execute(
        _FREE_LANE, {"key": session.id, "new_idx": next_idx}
    ).scalar_one()
    session = replace(session, has_queue=has_queue)
    end = {"outcome": ending.outcome.value, "message_id": message_id, "error": ending.error}
    last: list[tuple[str, Payload]] = [
        ("stream_end", end),
        ("session_sync", {"session": session_json(session)}),
    ]
    events.emit(connection, session.id, turn_id, [*items, *last], now)
    return session


def _stored_events(connection: Connection, dead: RunningTurn) -> list[TurnEvent]:
    stored = events.read_turn(connection, dead.session_id, dead.id)
    decoded = [turn_event(event.type, event.payload) for event in stored]
    return [event for event in decoded if event is not None]


def _is_ending(connection: Connection, turn_id: str, ending: Ending) -> bool:
    """Whether the turn has ended like this."""
    query = select(turns.c.outcome, turns.c.error).where(turns.c.id == turn_id)
    row = connection.execute(query).one_or_none()
    if row is None or row.outcome != ending.outcome:
        return False
    # The error of a limit may have been extended.
    return ending.outcome is Outcome.LIMIT or row.error == ending.error


def _choose(
    connection: Connection, lane: Lane, claim: Claim, admitted: Input | None
) -> tuple[Lane, Input | None, bool]:
    """The lane, the input for the next turn, and whether its account had met a usage limit.

    If the limit or a budget blocks the session's next input, makes the blocked inputs wait.
    """
    chosen = admitted
    if chosen is None or chosen.origin not in claim.origins:
        chosen = _next_input(connection, lane, claim)
    if chosen is None:
        return lane, None, False
    now = lane.clamp(claim.now)
    limit = usage_limits.find(connection, claim.account_of(lane.session))
    if limit is not None and limit.holds(chosen, now):
        lane = usage_limits.hold(connection, lane, limit, claim.retry, now)
        chosen = _next_input(connection, lane, claim)
    zone, usual_day = claim.zone, claim.usual_day
    while chosen is not None and (
        budget := budgets.blocking(connection, lane.session, chosen, now, zone, usual_day)
    ):
        lane = _pause(connection, lane, budget, claim)
        chosen = _next_input(connection, lane, claim)
    return lane, chosen, limit is not None and limit.limited_at is not None


def _pause(connection: Connection, lane: Lane, budget: Budget, claim: Claim) -> Lane:
    """Make inputs wait for a budget that is used up, and ask a person to raise it, once."""
    now = lane.clamp(claim.now)
    current = budgets.lock_budget(connection, budget, claim.usual_day, day_of(now, claim.zone))
    reason = None if current is None else why_exhausted(current)
    if current is None or reason is None:
        return lane  # it was raised just now
    inputs = [
        each
        for each in input_queue.list_inputs(connection, lane.session.id)
        if each.is_deliverable(now)
        and (
            current.scope is not Scope.AUTOMATION
            or each.metadata.get(budgets.AUTOMATION) == current.owner_id
        )
    ]
    question_id = current.question_id
    if not questions.is_settled(connection, question_id):
        new = question_about(current, reason)
        lane = questions.ask_in_lane(connection, lane, new, None, now)
        question_id = question_id_of(lane.session.id, new.call_id, new.fingerprint)
    for each in inputs:
        if each.origin is Origin.AUTOMATION:
            automation_runs.record_pause(connection, each, reason)
    return budgets.pause(connection, lane, current, inputs, question_id, now, claim.zone)


def _next_input(connection: Connection, lane: Lane, claim: Claim) -> Input | None:
    now = lane.clamp(claim.now)
    return input_queue.next_input(connection, lane.session.id, claim.origins, now)


def _is_open_elsewhere(connection: Connection, session: Session, claim: Claim) -> bool:
    if claim.shared_drivers is not None and session.driver not in claim.shared_drivers:
        return False
    return terminals.is_open(connection, session)


def _earlier_start(connection: Connection, lane: Lane, claim: Claim) -> TurnStart:
    """The start of a turn that was stored by a commit whose reply got lost."""
    turn_id = claim.turn_id
    query = select(turns.c.started_at).where(turns.c.id == turn_id)
    started_at = connection.execute(query).scalar_one()
    delivered = input_queue.delivered_to(connection, turn_id)
    return _turn_start(connection, lane.session, delivered, claim, lane.fence, started_at)


def _turn_start(
    connection: Connection,
    session: Session,
    delivered: Sequence[Input],
    claim: Claim,
    fence: int,
    started_at: datetime,
    user: User | None = None,
    was_limited: bool = True,
) -> TurnStart:
    if user is None or user.id != session.user_id:
        user = users.get(connection, session.user_id, started_at)
    turn = Turn(
        claim.turn_id,
        session,
        delivered[0],
        fence,
        started_at,
        tuple(delivered[1:]),
        claim.account_of(session),
        claim.retry,
        claim.zone,
        was_limited,
    )
    context = session.context_from_idx
    history = transcript.history_for(connection, session.id, context, claim.turn_id)
    return TurnStart(turn, user, history)


def _new_turn(
    turn_id: str, session_id: str, fence: int, origin: Origin, now: datetime
) -> dict[str, object]:
    return {
        "id": turn_id,
        "session_id": session_id,
        "fence": fence,
        "origin": origin,
        "event_count": 0,
        "input_tokens": 0,
        "output_tokens": 0,
        "cache_read_tokens": 0,
        "cache_creation_tokens": 0,
        "started_at": now,
    }


def _items(turn_events: Sequence[TurnEvent]) -> list[tuple[str, Payload]]:
    return [(event.type, event.payload()) for event in turn_events]
