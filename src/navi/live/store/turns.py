"""Begins, extends and finishes turns, and closes those whose process died.

A turn belongs to the process that holds its session's lane. Every write names the fence of that
ownership, and fails with `FenceLost` once another process has taken over.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo

from sqlalchemy import Connection, bindparam, insert, select, update

from navi.base.errors import FenceLost
from navi.live.model.access.quota import UNLIMITED, Limits
from navi.live.model.access.user import User
from navi.live.model.event import HistoryCompacted, Payload, TurnEvent, Usage, turn_event
from navi.live.model.input import Admission, Answer, Input, NewInput, Origin
from navi.live.model.message import Draft, Message, Notice, closed, drafts_of
from navi.live.model.session import Session, SessionState, Transition
from navi.live.model.turn import SERVER_STOPPED, Ending, Outcome, RunningTurn, StopReason, Turn
from navi.live.model.wire_format import input_json, message_json, session_json
from navi.live.store import events, input_queue, notices, origins, sessions, terminals, transcript
from navi.live.store.access import users
from navi.live.store.engine.tables import lanes, turns
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
)
_COUNT = (
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
class Begun:
    """A turn that this process has begun, and what its agent needs."""

    turn: Turn
    user: User
    history: Sequence[Message]
    stored_events: Sequence[TurnEvent] = ()
    """The turn's events so far, if it was taken over."""
    has_notified: bool = False
    """Whether beginning it queued notices in other sessions."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A process's attempt to begin a turn."""

    turn_id: str
    owner: str
    lease_until: datetime
    now: datetime
    origins: frozenset[Origin] = frozenset(Origin)
    """The origins for which the process holds a free slot."""
    user_id: str | None = None
    """The user who holds these slots, and must own the session; None for any user."""
    zone: tzinfo = UTC
    """The time zone in which prompts show times."""
    is_hand_over: bool = False
    """Whether the terminal in which the session is open asks for the turn."""
    shared_drivers: Collection[str] | None = None
    """The drivers whose sessions may be open in people's terminals; None for all drivers."""


def admit(
    connection: Connection,
    new: NewInput,
    sender: User | None,
    claim: Claim,
    limits: Limits = UNLIMITED,
) -> tuple[Admission, Begun | None]:
    """Store the input and, if its session is free, begin the next turn."""
    lane = lock(connection, new.session_id)
    admission, admitted = input_queue.admit_in_lane(
        connection, lane, new, claim.now, sender, limits
    )
    if lane.turn_id is not None and lane.turn_id != claim.turn_id:
        return admission, None
    is_next = admission.position == 0 and not admission.delivered
    begun = _begin(connection, lane, claim, admitted if is_next else None, sender)
    if begun is not None and new.id in {each.id for each in begun.turn.inputs}:
        admission = replace(admission, delivered=True, position=0)
    return admission, begun


def begin(connection: Connection, session_id: str, claim: Claim) -> Begun | None:
    """Take the lane and deliver the next input to a new turn; None if that isn't possible."""
    return _begin(connection, lock(connection, session_id), claim)


def _begin(
    connection: Connection,
    lane: Lane,
    claim: Claim,
    admitted: Input | None = None,
    user: User | None = None,
) -> Begun | None:
    session_id, turn_id = lane.session.id, claim.turn_id
    if lane.turn_id == turn_id:
        return _begun_before(connection, lane, turn_id)
    if lane.turn_id is not None or claim.user_id not in (None, lane.session.user_id):
        return None
    if not claim.is_hand_over and _is_open_elsewhere(connection, lane.session, claim):
        return None
    chosen = admitted
    if chosen is None or chosen.origin not in claim.origins:
        chosen = input_queue.next_input(
            connection, session_id, claim.origins, lane.clamp(claim.now)
        )
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
    session = sessions.move(connection, lane.session, Transition.TURN_BEGINS, now)
    texts = [(each.text, each.origin) for each in delivered if "notice" not in each.metadata]
    session = sessions.set_opening(connection, session, texts, now)
    begun = _begun(connection, session, delivered, turn_id, fence, now, user)
    is_recall = chosen.origin is Origin.RECALL
    events.emit(
        connection,
        session_id,
        turn_id,
        [
            *(("input_delivered", {"input": input_json(each)}) for each in delivered),
            ("stream_start", {"origin": chosen.origin.value, "is_recall": is_recall}),
        ],
        now,
    )
    reminders.register_delivered(connection, delivered, now)
    return replace(
        begun, has_notified=notices.notify_delivered(connection, session, delivered, now)
    )


def extend(
    connection: Connection,
    turn: Turn,
    stored_count: int,
    new_events: Sequence[TurnEvent],
    now: datetime,
) -> None:
    """Store new events of the turn, which has `stored_count` already."""
    count = {"turn_id": turn.id, "stored_count": stored_count, "more": len(new_events)}
    if not connection.execute(_COUNT, count).rowcount:
        # Already stored by a commit whose reply got lost.
        return
    events.emit(connection, turn.session.id, turn.id, _items(new_events), now, fence=turn.fence)
    if any(isinstance(event, HistoryCompacted) for event in new_events):
        reminders.compaction_ended(connection, turn.session.id, now)


def set_asking(connection: Connection, turn: Turn, is_asking: bool, now: datetime) -> None:
    """Set whether the turn waits for a person's answer."""
    state = SessionState.WAITING if is_asking else SessionState.RUNNING
    lane = lock(connection, turn.session.id)
    if lane.turn_id == turn.id:
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
    if lane.turn_id != turn.id:
        if _ending(connection, turn.id) != ending:
            raise FenceLost(turn.session.id)
        return
    rest = _Rest(stored_count, _items(new_events), drafts, usage)
    _conclude(connection, lane, turn.inputs, turn.id, rest, ending, now)


def take_over(connection: Connection, dead: RunningTurn, claim: Claim) -> Begun | None:
    """Continue a turn whose process is gone but whose agent still runs.

    None if another process was faster, or this one has no free slot.
    """
    lane = lock(connection, dead.session_id)
    owner = connection.execute(
        select(lanes.c.owner).where(lanes.c.session_id == dead.session_id)
    ).scalar_one()
    # The second case is our own take-over, by a commit whose reply got lost.
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
    begun = _begun(connection, lane.session, delivered, dead.id, fence, started_at)
    return replace(begun, stored_events=_stored_events(connection, dead))


def close_dead(
    connection: Connection, dead: RunningTurn, now: datetime, why: str = SERVER_STOPPED
) -> bool:
    """End a turn whose process is gone, or whose input did not reach its agent.

    If it produced nothing, its inputs are queued again. False if another process was faster.
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
    rest = replace(rest, drafts=closed(drafts, ending, must_speak=must_speak))
    _conclude(connection, lane, inputs, dead.id, rest, ending, now)
    return True


def drop(connection: Connection, idle: RunningTurn, now: datetime) -> None:
    """Remove a turn that found nothing to do, and its input, without a trace."""
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
    turn_id = input_queue.find(connection, session_id, input_id).turn_id
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
    connection: Connection, lane: Lane, turn_id: str, rest: _Rest, ending: Ending, now: datetime
) -> None:
    """Undo the turn: remove its messages and queue its inputs again."""
    now = lane.clamp(now)
    freed = transcript.take_back(connection, turn_id)
    # Reuse the indexes, unless notices were added after the turn's messages.
    next_idx = min(freed) if max(freed) + 1 == lane.next_idx else lane.next_idx
    waiting = input_queue.give_back(connection, turn_id)
    for each in waiting:
        origins.turn_undone(connection, each, now)
    lane = replace(lane, next_idx=next_idx)
    _conclude(connection, lane, (), turn_id, rest, ending, now, undone=waiting)
    queued = [("input_queued", {"input": input_json(each)}) for each in waiting]
    events.emit(connection, lane.session.id, None, queued, now)


def _conclude(
    connection: Connection,
    lane: Lane,
    inputs: Sequence[Input],
    turn_id: str,
    rest: _Rest,
    ending: Ending,
    now: datetime,
    undone: Sequence[Input] = (),
) -> None:
    """End a turn: store what is left of it, settle its inputs and free the lane."""
    now = lane.clamp(now)
    session_id, idx, message_id, answer = lane.session.id, lane.next_idx, None, ""
    if rest.drafts:
        message_id = transcript.add_drafts(
            connection, session_id, turn_id, inputs[0], rest.drafts, idx, now
        )
        idx += len(rest.drafts)
        answer = rest.drafts[-1].content
    reason = _complete_row(connection, session_id, turn_id, rest, ending, message_id, now)
    if reason == StopReason.CLEARED:
        lane = _with_new_context(connection, lane, idx, now)
    if inputs:
        remark = origins.turn_ended(connection, inputs[0], ending, message_id, now)
        if remark is not None:
            idx = _add_remark(connection, session_id, inputs[0], remark, idx, now)
    if lane.session.state is SessionState.STOPPED:
        # The session was killed meanwhile, so a recurring recall has no next wake-up.
        recalls.session_ended(connection, session_id, now)
    # Read the recall again: the lane's lock does not cover it.
    session = replace(lane.session, pending=recalls.pending(connection, session_id))
    _free_lane(connection, session, turn_id, rest.items, ending, message_id, idx, now)
    if undone:
        reminders.turn_undone(connection, session_id, undone, now)
    else:
        reminders.turn_ended(connection, session_id, ending, reason, now)
    notices.notify_stopped(connection, session, inputs, ending, answer, now)


def _add_remark(
    connection: Connection, session_id: str, about: Input, text: str, idx: int, now: datetime
) -> int:
    """Add a remark to the transcript. Returns the next free index."""
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
    reason: str | None = row.stop_reason
    return reason


def _with_new_context(connection: Connection, lane: Lane, from_idx: int, now: datetime) -> Lane:
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
) -> None:
    """Free the lane and announce the end."""
    session = sessions.move(connection, session, Transition.TURN_ENDS, now)
    connection.execute(_FREE_LANE, {"key": session.id, "new_idx": next_idx})
    end = {"outcome": ending.outcome.value, "message_id": message_id, "error": ending.error}
    last: list[tuple[str, Payload]] = [
        ("stream_end", end),
        ("session_sync", {"session": session_json(session)}),
    ]
    events.emit(connection, session.id, turn_id, [*items, *last], now)


def _stored_events(connection: Connection, dead: RunningTurn) -> list[TurnEvent]:
    stored = events.read_turn(connection, dead.session_id, dead.id)
    decoded = [turn_event(event.type, event.payload) for event in stored]
    return [event for event in decoded if event is not None]


def _ending(connection: Connection, turn_id: str) -> Ending | None:
    query = select(turns.c.outcome, turns.c.error).where(turns.c.id == turn_id)
    row = connection.execute(query).one_or_none()
    if row is None or row.outcome is None:
        return None
    return Ending(Outcome(row.outcome), row.error)


def _is_open_elsewhere(connection: Connection, session: Session, claim: Claim) -> bool:
    if claim.shared_drivers is not None and session.driver not in claim.shared_drivers:
        return False
    return terminals.is_open(connection, session)


def _begun_before(connection: Connection, lane: Lane, turn_id: str) -> Begun:
    """The turn again, after a commit whose reply got lost."""
    query = select(turns.c.started_at).where(turns.c.id == turn_id)
    started_at = connection.execute(query).scalar_one()
    delivered = input_queue.delivered_to(connection, turn_id)
    return _begun(connection, lane.session, delivered, turn_id, lane.fence, started_at)


def _begun(
    connection: Connection,
    session: Session,
    delivered: Sequence[Input],
    turn_id: str,
    fence: int,
    started_at: datetime,
    user: User | None = None,
) -> Begun:
    if user is None or user.id != session.user_id:
        user = users.get(connection, session.user_id, started_at)
    return Begun(
        turn=Turn(turn_id, session, delivered[0], fence, started_at, tuple(delivered[1:])),
        user=user,
        history=transcript.history_for(connection, session.id, session.context_from_idx, turn_id),
    )


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
