"""Navi's server with a fault planted just before it starts."""

from __future__ import annotations

import sys

MAIN = "from navi.cli.navi.main import main; main()"


def mutant(patch: str) -> list[str]:
    """The command `navi`, patched."""
    return [sys.executable, "-c", patch + MAIN]


# Inputs.

NEVER_GIVES_BACK = """
from navi.live.store import input_queue
input_queue.give_back = lambda *arguments: []
"""

ALWAYS_GIVES_BACK = """
from sqlalchemy import text
from navi.live.store import turns
close_dead = turns.close_dead
GIVE_BACK = (
    "DELETE FROM messages WHERE turn_id = :turn AND session_id = :session",
    "UPDATE message_queue SET delivered_at = NULL, turn_id = NULL "
    "WHERE turn_id = :turn AND session_id = :session",
    "UPDATE lanes SET next_idx = (SELECT count(*) FROM messages WHERE session_id = :session) "
    "WHERE session_id = :session AND :turn = :turn",
)
def close_and_give_back(connection, dead, now):
    closed = close_dead(connection, dead, now)
    for statement in GIVE_BACK:
        connection.execute(text(statement), {"turn": dead.id, "session": dead.session_id})
    return closed
turns.close_dead = close_and_give_back
"""

FORGETS_ADMISSIONS = """
from navi.live.model.input import Admission
from navi.live.store import input_queue
def admit_in_lane(connection, lane, new, *_):
    return Admission(new.id, delivered=True, position=0), None, lane
input_queue.admit_in_lane = admit_in_lane
"""

IGNORES_THE_FENCE = """
from navi.live.runtime.turns.turn_runner import TurnRunner
from navi.live.store import events
events._advance_fenced = lambda connection, session_id, count, fence: events._advance(
    connection, session_id, count
)
TurnRunner.abandon = lambda *arguments: None
"""


# Messages.

TELLS_NOBODY_OF_THE_END = """
from navi.live.store import notices
notices.notify_stopped = lambda *arguments: None
"""


# Recalls.

CLAIMS_AND_ADMITS_APART = """
from navi.live.runtime.scheduler import due_loop
from navi.live.store import lanes, input_queue
from navi.live.store.due.contract import Claimed
admit_all = input_queue.admit_all
def claim(connection, kind, now, until):
    apart = []
    def remember(connection, arrivals, now):
        apart.extend(new for lane, new in arrivals)
        return []
    input_queue.admit_all = remember
    try:
        kind.claim(connection, now, until, due_loop.BATCH)
    finally:
        input_queue.admit_all = admit_all
    return apart
def admit_claimed(connection, apart, now):
    arrivals = [(lanes.lock(connection, new.session_id), new) for new in apart]
    owners = {lane.session.id: lane.session.user_id for lane, _ in arrivals}
    return Claimed(len(apart), admit_all(connection, arrivals, now), owners)
async def claim_batch(self, kind):
    now = self._clock.now()
    apart = await self._store.transact(claim, kind, now, now + kind.lead)
    if apart:
        self._admission.expect(await self._store.transact(admit_claimed, apart, now))
    return len(apart)
due_loop.DueLoop._claim_batch = claim_batch
"""

ENDS_RECALLS_BEFORE_THEIR_TURNS = """
from navi.live.model.turn import Ending, Outcome
from navi.live.store.scheduling import recalls
from navi.live.store import turns
begin = turns.begin
def begin_and_end(connection, session_id, claim):
    begun = begin(connection, session_id, claim)
    if begun is not None:
        recalls.turn_ended(connection, begun.turn.input, Ending(Outcome.OK), None, claim.now)
    return begun
turns.begin = begin_and_end
"""

DELIVERS_AHEAD_OF_TIME = """
from datetime import timedelta
from navi.live.runtime.turns import admission
from navi.live.store import lanes, input_queue
ready, next_input, lead = lanes.ready, input_queue.next_input, timedelta(seconds=1)
def ready_ahead(connection, now, limit, *, full):
    return ready(connection, now + lead, limit, full=full)
def next_input_ahead(connection, session_id, origins, now):
    return next_input(connection, session_id, origins, now + lead)
lanes.ready, input_queue.next_input = ready_ahead, next_input_ahead
admission.AdmissionService.expect = lambda self, claimed: self.wake()
"""

MOVES_ON_TWICE = """
from navi.live.store.scheduling import recalls
recalls.turn_undone = lambda *arguments: None
recalls._is_planned = lambda input, recall: True
"""

FORGETS_WHO_WAITS = """
from navi.live.store import origins
origins.turn_undone = lambda *arguments: None
"""


# Automations.

MOVES_ON_AND_ADMITS_APART = """
from navi.live.runtime.scheduler import due_loop
from navi.live.store.scheduling import automation_runs, automations
from navi.live.store import lanes, input_queue
from navi.live.store.due.contract import Claimed
begin = automation_runs.begin
def move_on(connection, kind, now, until):
    apart = []
    def only_move_on(connection, lane, automation, its, keep, now):
        changes = automation_runs._changes_for_next_run(its)
        automations.change(connection, automation, now, **changes)
        apart.append((automation, its, keep))
    automation_runs.begin = only_move_on
    try:
        kind.claim(connection, now, until, due_loop.BATCH)
    finally:
        automation_runs.begin = begin
    return apart
def admit(connection, apart, now):
    inputs, owners = [], {}
    for automation, its, keep in apart:
        lane = lanes.lock(connection, automation.session_id)
        owners[lane.session.id] = lane.session.user_id
        new = begin(connection, lane, automation, its, keep, now)
        inputs += input_queue.admit_all(connection, [(lane, new)], now)
    return Claimed(len(apart), inputs, owners)
async def claim_batch(self, kind):
    now = self._clock.now()
    apart = await self._store.transact(move_on, kind, now, now + kind.lead)
    if apart:
        self._admission.expect(await self._store.transact(admit, apart, now))
    return len(apart)
due_loop.DueLoop._claim_batch = claim_batch
"""

SAYS_HOW_IT_ENDED_WHEN_IT_BEGINS = """
from navi.live.model.turn import Ending, Outcome
from navi.live.store.scheduling import automation_runs
began, ended = automation_runs.turn_began, automation_runs.turn_ended
def end_at_once(connection, begun, now, zone):
    prompted = began(connection, begun, now, zone)
    ended(connection, begun, Ending(Outcome.OK), None, now)
    return prompted
automation_runs.turn_began = end_at_once
automation_runs.turn_ended = lambda *arguments: None
"""

DELIVERS_IN_TWO_STEPS = """
from navi.live.model.scheduling.automation import Delivery
from navi.live.runtime.scheduler.answer_posting import AnswerPosting
from navi.live.store.scheduling import automation_runs, background_answers
settle_delivery = automation_runs.settle_delivery
def mark(connection, run_id):
    return settle_delivery(connection, run_id, Delivery.DELIVERED)
def tell(connection, each, now):
    automation_runs.settle_delivery = lambda *arguments: True
    return background_answers.deliver(connection, each, now)
async def settle(self, each):
    await self._store.transact(mark, each.run.id)
    await self._store.transact(tell, each, self._clock.now())
AnswerPosting._settle = settle
"""
