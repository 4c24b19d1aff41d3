from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navi.base.errors import InvalidInput
from navi.live.model.scheduling.automation import Category, Ended
from navi.live.model.scheduling.jobs_file import Jobs, read_jobs
from navi.live.model.scheduling.schedule import At, Cron, Every

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=1)


def milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def camel(**payload: Any) -> dict[str, Any]:
    return {
        "id": "a1b2c3d4",
        "name": "daily monitor",
        "enabled": True,
        "schedule": {"kind": "cron", "expr": "0 9 * * *", "tz": "America/New_York"},
        "payload": {"kind": "agent_turn", "message": "Check.", **payload},
        "state": {"nextRunAtMs": milliseconds(LATER), "lastRunAtMs": milliseconds(NOW)},
        "createdAtMs": milliseconds(NOW - timedelta(days=9)),
        "updatedAtMs": milliseconds(NOW),
        "deleteAfterRun": False,
    }


def read(*jobs: Any) -> Jobs:
    return read_jobs(json.dumps({"version": 1, "jobs": jobs}), NOW, "local", "UTC")


def test_a_job_with_a_session_is_bound_in_both_spellings() -> None:
    snake = {
        **camel(session_key="s1"),
        "id": "other",
        "created_at_ms": milliseconds(NOW),
        "state": {"next_run_at_ms": milliseconds(LATER)},
    }
    jobs = read(camel(sessionKey="s1"), snake)
    assert [job.category for job in jobs.readable] == [Category.BOUND] * 2
    assert [job.session_key for job in jobs.readable] == ["s1", "s1"]
    assert jobs.readable[0].last_run_at == NOW
    assert jobs.refused == []


def test_a_job_without_a_session_stays_unbound_with_its_target() -> None:
    [job] = read(camel(deliver=True, channel="telegram", to="42", channelMeta={"a": 1})).readable
    assert job.category is Category.LEGACY
    assert job.session_id == "cron:a1b2c3d4"
    assert (job.target.channel, job.target.to, job.target.deliver) == ("telegram", "42", True)


@pytest.mark.parametrize("name", ["heartbeat", "dream"])
def test_known_internal_jobs_are_system_jobs(name: str) -> None:
    [job] = read({**camel(message=""), "id": name, "name": name}).readable
    assert job.category is Category.SYSTEM
    [job] = read(camel(kind="system_event", message="tick")).readable
    assert job.category is Category.SYSTEM


def test_all_schedules_are_read() -> None:
    every = {**camel(), "id": "e", "schedule": {"kind": "every", "everyMs": 60_000}}
    at = {**camel(), "id": "t", "schedule": {"kind": "at", "atMs": milliseconds(LATER)}}
    schedules = [job.schedule for job in read(camel(), every, at).readable]
    assert isinstance(schedules[0], Cron)
    assert isinstance(schedules[1], Every)
    assert schedules[1].seconds == 60
    assert schedules[2] == At(LATER)


def test_what_is_over_or_switched_off_does_not_run() -> None:
    past = milliseconds(NOW - timedelta(hours=1))
    over = {**camel(), "id": "o", "schedule": {"kind": "at", "atMs": past}, "state": {}}
    off = {**camel(), "id": "f", "enabled": False}
    missed = {**over, "id": "m", "state": {"nextRunAtMs": past}}
    done, paused, late = read(over, off, missed).readable
    assert (done.enabled, done.ended, done.next_run_at) == (False, Ended.DONE, None)
    assert (paused.enabled, paused.ended, paused.next_run_at) == (False, None, None)
    assert late.next_run_at == NOW - timedelta(hours=1)


@pytest.mark.parametrize(
    "job",
    [
        "text",
        {},
        {**camel(), "payload": None},
        {**camel(), "id": "a b"},
        {**camel(), "schedule": {"kind": "sometimes"}},
        {**camel(), "schedule": {"kind": "cron", "expr": "x"}},
        {**camel(), "schedule": {"kind": "cron", "expr": "0 9 * * *", "tz": "Mars"}},
        {**camel(), "schedule": {"kind": "every", "everyMs": "often"}},
        {**camel(), "schedule": {"kind": "every", "everyMs": 1e15}},
        {**camel(), "schedule": {"kind": "every", "everyMs": 10**400}},
        {**camel(), "schedule": {"kind": "every", "everyMs": float("inf")}},
        {**camel(), "schedule": {"kind": "every", "everyMs": float("nan")}},
        {**camel(), "schedule": {"kind": "at", "atMs": 10**20}},
        {**camel(), "schedule": {"kind": "at", "atMs": 253_402_300_799_000}},
        {**camel(), "name": "x" * 201},
        {**camel(), "name": "half \ud800"},
        {**camel(), "state": {"lastStatus": "a\x00b"}},
        camel(message="a\x00b"),
        camel(kind="system_event", message="a\x00b"),
        camel(sessionKey="a\x00b"),
        camel(channel="x" * 2_001),
        camel(channelMeta={"a": "x" * 10_000}),
        camel(message=""),
        camel(kind="unheard_of"),
    ],
)
def test_a_job_that_cannot_be_read_is_named_and_the_rest_imported(job: Any) -> None:
    jobs = read(job, {**camel(), "id": "good"})
    assert [each.id for each in jobs.readable] == ["good"]
    [refused] = jobs.refused
    assert refused.job.startswith("job 1")
    assert refused.reason


def test_a_job_from_the_future_counts_from_now() -> None:
    every = {"kind": "every", "everyMs": 315_619_200_000}
    [job] = read({**camel(), "schedule": every, "createdAtMs": 253_402_300_799_000}).readable
    assert job.next_run_at == NOW + timedelta(seconds=315_619_200)


def test_a_long_error_of_the_past_is_shortened() -> None:
    [job] = read({**camel(), "state": {"lastError": "x" * 9_000}}).readable
    assert job.last_error == "x" * 2_000


NUMBERS = st.integers() | st.floats() | st.sampled_from([10**12, 10**15, 10**400, -1, 0, 1, True])
VALUES: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | NUMBERS | st.text(max_size=20) | st.just({}) | st.just([])
)


@given(
    schedule=st.fixed_dictionaries(
        {"kind": st.sampled_from(["at", "every", "cron"])},
        optional={"atMs": VALUES, "everyMs": VALUES, "expr": VALUES, "tz": VALUES},
    ),
    others=st.dictionaries(
        st.sampled_from(["createdAtMs", "enabled", "name", "deleteAfterRun", "state", "payload"]),
        VALUES,
    ),
)
def test_whatever_a_job_holds_the_one_beside_it_is_taken(
    schedule: dict[str, Any], others: dict[str, Any]
) -> None:
    jobs = read({**camel(), "schedule": schedule, **others}, {**camel(), "id": "good"})
    assert "good" in [each.id for each in jobs.readable]
    assert len(jobs.readable) + len(jobs.refused) == 2


def test_what_is_not_taken_over_is_noted() -> None:
    once = {**camel(), "schedule": {"kind": "at", "atMs": milliseconds(LATER)}}
    own = {**camel(), "id": "dream", "name": "dream"}
    jobs = read(
        {**once, "deleteAfterRun": True},
        {**once, "id": "kept"},
        # A recurring job has no last run to be deleted after.
        {**camel(), "id": "daily", "deleteAfterRun": True},
        own,
        {**own, "id": "heartbeat", "enabled": False},
    )
    ignored, switch = jobs.notes
    assert "deleteAfterRun is ignored" in ignored
    assert "sm automation remove a1b2c3d4" in ignored
    assert switch == "dream is built into Navi: the setting [automations] dream enables it"


def test_the_second_of_two_jobs_with_one_id_is_refused() -> None:
    jobs = read(camel(), camel())
    assert len(jobs.readable) == len(jobs.refused) == 1


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "null", '{"jobs": 1}', "7"])
def test_a_corrupt_file_is_refused_whole(text: str) -> None:
    with pytest.raises(InvalidInput):
        read_jobs(text, NOW, "local", "UTC")
