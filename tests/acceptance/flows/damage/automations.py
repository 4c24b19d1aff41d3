"""An automation that ran once, a recurring one with missed runs, and one that delivers."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Connection

from navi.live.model.scheduling.automation import Automation, CatchUp, Guards, Kind, Target
from navi.live.model.scheduling.schedule import At, Every, Schedule
from navi.live.runtime.scheduler.system_jobs import hidden_session
from navi.live.store.due.due_automations import DueAutomations
from navi.live.store.scheduling import automations, background_answers, hidden_sessions
from tests.acceptance.flows.damage.books import MINUTE, NOW, SECOND, Books, Damage, answer, die


def write(books: Books) -> None:
    for session_id in ("a", "b", "reader"):
        books.create_session(session_id)
    books.do(automations.add, _automation("once", "a", At(NOW + MINUTE)))
    books.do(automations.add, _automation("beat", "b", Every(60, NOW)))
    apart = _automation("apart", None, At(NOW + 3 * MINUTE))
    books.do(hidden_sessions.add_or_update, hidden_session(apart, "/", "scripted", NOW), apart, NOW)

    # Two at once, a second ahead; the second one's first turn dies before its first output.
    books.do(_claim, NOW + MINUTE - SECOND, 2)
    books.do(answer, "a", "turn-1", NOW + MINUTE, NOW + MINUTE)
    books.do(die, "b", "turn-2", text="", at=NOW + MINUTE)
    books.do(answer, "b", "turn-3", NOW + MINUTE, NOW + MINUTE)
    books.do(_claim, NOW + 4 * MINUTE, 2)
    books.do(answer, "cron:apart", "turn-4", NOW + 4 * MINUTE, NOW + 4 * MINUTE)
    books.do(_deliver, NOW + 4 * MINUTE)
    books.do(die, "b", "turn-5", text="half", at=NOW + 4 * MINUTE)


def _claim(connection: Connection, now: datetime, count: int, ahead: timedelta = SECOND) -> None:
    assert DueAutomations(50).claim(connection, now, now + ahead, 10).count == count


def _deliver(connection: Connection, now: datetime) -> None:
    for each in background_answers.list_pending(connection):
        assert background_answers.deliver(connection, each, now)


def _automation(name: str, session_id: str | None, schedule: Schedule) -> Automation:
    return Automation(
        id=name,
        user_id="local",
        name=name,
        kind=Kind.AGENT_TURN,
        session_key=session_id,
        schedule=schedule,
        message="look",
        enabled=True,
        catch_up=CatchUp.ONCE,
        guards=Guards(),
        target=Target() if session_id else Target("web", "reader", deliver=True),
        next_run_at=schedule.next_after(NOW),
        created_at=NOW,
        updated_at=NOW,
    )


LAST_OF_BEAT = "id = (SELECT max(id) FROM automation_runs WHERE automation_id = 'beat')"
DAMAGE: Damage = {
    "a run has vanished": (
        "comes from no run",
        "DELETE FROM automation_runs WHERE automation_id = 'once'",
    ),
    "a run has no input": (
        "is turn_completed and has no input",
        "UPDATE message_queue SET origin = 'user' WHERE id LIKE 'once:%'",
    ),
    "a run never began": (
        "is queued, but its input is not",
        "UPDATE automation_runs SET state = 'queued' WHERE automation_id = 'once'",
    ),
    "an input waits and its run has ended": (
        "is turn_completed, but its input is not",
        "UPDATE message_queue SET delivered_at = NULL, turn_id = NULL WHERE id LIKE 'once:%'",
    ),
    "an automation shows a run that has ended": (
        "automation beat says that its run is running, but it is None",
        "UPDATE automations SET active_run_state = 'running' WHERE id = 'beat'",
    ),
    "an input was admitted too early": (
        "was admitted too early",
        "UPDATE message_queue SET queued_at = '2026-01-01T00:00:58.999999+00:00' "
        "WHERE id LIKE 'once:%'",
    ),
    "an input waits for another moment than its run": (
        "does not wait for its run, but for 2026-01-01 00:00:59",
        "UPDATE message_queue SET not_before = '2026-01-01T00:00:59.000000+00:00' "
        "WHERE id LIKE 'once:%'",
    ),
    "an input was delivered before its time": (
        "was delivered before its time",
        "UPDATE message_queue SET delivered_at = '2026-01-01T00:00:59.999999+00:00' "
        "WHERE id LIKE 'once:%'",
    ),
    "a run never ended": (
        "is said to be running, but nothing runs",
        "UPDATE automation_runs SET state = 'running' WHERE automation_id = 'once'",
    ),
    "a failure is recorded as a success": (
        "is turn_completed but its turn ended as error",
        f"UPDATE automation_runs SET state = 'turn_completed' WHERE {LAST_OF_BEAT}",
    ),
    "a failure has no words": (
        "does not say what went wrong",
        f"UPDATE automation_runs SET error = NULL WHERE {LAST_OF_BEAT}",
    ),
    "a run ended at another time than its turn": (
        "did not begin and end together with its turn",
        "UPDATE automation_runs SET ended_at = queued_at, started_at = "
        "(SELECT created_at FROM automations WHERE id = 'once') WHERE automation_id = 'once'",
    ),
    "a run names another answer": (
        "as its answer, not",
        "UPDATE automation_runs SET response_message_id = 'turn-3.1' WHERE automation_id = 'once'",
    ),
    "a run was missed and yet ran": (
        "is missed and yet has an input",
        "UPDATE automation_runs SET state = 'missed' WHERE automation_id = 'once'",
    ),
    "an automation was due and is over without a run": (
        "came 1 times, but ran 0 times and missed 0",
        "DELETE FROM message_queue WHERE id LIKE 'once:%'",
        "DELETE FROM automation_runs WHERE automation_id = 'once'",
    ),
    "missed ones are not counted": (
        "came 4 times, but ran 2 times and missed 1",
        f"UPDATE automation_runs SET missed_count = 1 WHERE {LAST_OF_BEAT}",
        "UPDATE automations SET missed_count = 1 WHERE id = 'beat'",
    ),
    "runs are counted wrongly": (
        "counts 3 runs and 2 missed",
        "UPDATE automations SET run_count = 3 WHERE id = 'beat'",
    ),
    "an automation left its beat": (
        "is no occurrence of every",
        "UPDATE automations SET every_seconds = 59 WHERE id = 'beat'",
    ),
    "an automation says that all is well": (
        "automation beat says ok, not failed",
        "UPDATE automations SET last_status = 'ok' WHERE id = 'beat'",
    ),
    "an automation says so at another time": (
        "automation once did not change together with its run",
        "UPDATE automations SET last_run_at = created_at WHERE id = 'once'",
    ),
    "the prompt is another one": (
        "its prompt is not the one that the transcript refers to",
        "UPDATE automation_runs SET rendered_prompt = 'x' WHERE automation_id = 'once'",
    ),
    "a trigger does not say what it is": (
        "does not say that it is a trigger",
        "UPDATE messages SET metadata = '{}' WHERE id LIKE 'once:%'",
    ),
    "a run left no visible answer": (
        "is not visible",
        "UPDATE messages SET content = '' WHERE id = 'turn-1.1'",
    ),
    "an answer was never delivered": (
        "is delivered, and its answer came 0 times",
        "DELETE FROM messages WHERE id LIKE 'apart:%.delivered'",
    ),
    "nobody decided about an answer": (
        "nobody decided about the answer",
        "UPDATE automation_runs SET delivery = 'pending' WHERE automation_id = 'apart'",
    ),
    "an answer is lost": (
        "the answer of run apart:",
        "DELETE FROM messages WHERE id LIKE 'apart:%.delivered'",
        "UPDATE automation_runs SET delivery = NULL WHERE automation_id = 'apart'",
    ),
    "an answer was delivered to somebody else": (
        "is not the answer of its run",
        "UPDATE automations SET \"to\" = 'a' WHERE id = 'apart'",
    ),
    "an automation did not move on with the admission": (
        "was admitted, and its automation did not move on",
        "UPDATE events SET type = 'x' WHERE type = 'automation_update' AND session_id = 'a'",
    ),
    "the last update is not what is stored": (
        "automation beat: the last update announced",
        "UPDATE automations SET enabled = false WHERE id = 'beat'",
    ),
}
