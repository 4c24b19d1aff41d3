"""The checker of automations objects to every kind of damage: else it would prove nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from navi.live.model.scheduling.automation import Automation, CatchUp, Guards, Kind, Target
from navi.live.model.scheduling.schedule import At, Every, Schedule
from navi.live.runtime.scheduler.system_jobs import hidden_session
from navi.live.store import sessions
from navi.live.store.due.due_automations import DueAutomations
from navi.live.store.engine import schema
from navi.live.store.engine.connection import open_engine
from navi.live.store.engine.dialects.sqlite import sqlite_url
from navi.live.store.scheduling import automations, background_answers, hidden_sessions
from tests.flows import automation_ledger
from tests.flows.automation_ledger import Asked
from tests.flows.test_ledger import NOW, answer, die, session_row
from tests.flows.test_recall_ledger import Store

MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)


def claim(connection: Connection, now: datetime, count: int, ahead: timedelta = SECOND) -> None:
    assert DueAutomations(50).claim(connection, now, now + ahead, 10).count == count


def deliver(connection: Any, moment: datetime) -> None:
    for each in background_answers.waiting(connection):
        assert background_answers.deliver(connection, each, moment)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that ran once, one that beats and missed some, and one that delivers."""
    path = tmp_path_factory.mktemp("automations") / "books.sqlite3"
    schema.prepare(sqlite_url(path))
    store = Store(sqlite_url(path), open_engine(sqlite_url(path)))
    for session_id in ("a", "b", "reader"):
        store.do(sessions.create, session_row(session_id))
    store.do(automations.add, _automation("once", "a", At(NOW + MINUTE)))
    store.do(automations.add, _automation("beat", "b", Every(60, NOW)))
    apart = _automation("apart", None, At(NOW + 3 * MINUTE))
    store.do(hidden_sessions.keep, hidden_session(apart, "/", "scripted", NOW), apart, NOW)

    # Two at once, a second ahead; of the second, the first turn dies before it says anything.
    store.do(claim, NOW + MINUTE - SECOND, 2)
    store.do(answer, "a", "turn-1", NOW + MINUTE, NOW + MINUTE)
    store.do(die, "b", "turn-2", said="", at=NOW + MINUTE)
    store.do(answer, "b", "turn-3", NOW + MINUTE, NOW + MINUTE)
    store.do(claim, NOW + 4 * MINUTE, 2)
    store.do(answer, "cron:apart", "turn-4", NOW + 4 * MINUTE, NOW + 4 * MINUTE)
    store.do(deliver, NOW + 4 * MINUTE)
    store.do(die, "b", "turn-5", said="half", at=NOW + 4 * MINUTE)
    store.engine.dispose()
    return path


@pytest.fixture
def store(original: Path, tmp_path: Path) -> Iterator[Store]:
    url = sqlite_url(Path(shutil.copy(original, tmp_path)))
    engine = open_engine(url)
    yield Store(url, engine)
    engine.dispose()


def complaints(store: Store, *asked: Asked) -> list[str]:
    return automation_ledger.violations(automation_ledger.read(store.url), asked=asked)


def test_books_that_add_up_raise_no_objection(store: Store) -> None:
    books = automation_ledger.read(store.url)

    assert complaints(store, Asked("once"), Asked("beat"), Asked("apart")) == []
    told = {run.id.split(":")[0]: run.state for run in books.runs}
    assert told == {"once": "turn_completed", "beat": "failed", "apart": "turn_completed"}
    assert [each.missed_count for each in books.automations if each.id == "beat"] == [2]


LAST_OF_BEAT = "id = (SELECT max(id) FROM automation_runs WHERE automation_id = 'beat')"
# What is wrong: the objection that it must raise, and how it is brought about.
DAMAGE: dict[str, tuple[str, ...]] = {
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
    "an automation tells of a run that has ended": (
        "automation beat tells that its run is running, but it is None",
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
        "is told to be running, but nothing runs",
        "UPDATE automation_runs SET state = 'running' WHERE automation_id = 'once'",
    ),
    "a failure is told as a success": (
        "is turn_completed but its turn ended as error",
        f"UPDATE automation_runs SET state = 'turn_completed' WHERE {LAST_OF_BEAT}",
    ),
    "a failure has no words": (
        "does not tell what went wrong",
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
        "is delivered, and its answer told 0 times",
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
        "automation beat: the last update told",
        "UPDATE automations SET enabled = false WHERE id = 'beat'",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_the_checker_objects_when(store: Store, damage: tuple[str, ...]) -> None:
    objection, *statements = damage
    store.damage(*statements)

    found = complaints(store)
    assert any(objection in each for each in found), found


def test_the_checker_objects_to_an_automation_that_left_no_trace(store: Store) -> None:
    assert complaints(store, Asked("gone")) == ["automation 'gone' was confirmed but is not stored"]
    assert complaints(store, Asked("once", is_removed=True)) == [
        "automation 'once' was removed but is still stored"
    ]


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
