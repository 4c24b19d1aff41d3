"""`navi import-jobs` on a real store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from navi.live.store.engine import schema
from navi.live.store.engine.connection import open_engine
from navi.live.store.engine.dialects.sqlite import sqlite_url
from navi.live.store.scheduling import automations
from tests.integration.cli.command_runs import Finished, navi

JOB = {
    "id": "old1",
    "name": "old one",
    "schedule": {"kind": "every", "everyMs": 3_600_000},
    "payload": {"kind": "agent_turn", "message": "Check.", "deliver": True, "to": "42"},
}


def run(home: Path, *arguments: str) -> Finished:
    return navi("import-jobs", *arguments, NAVI_HOME=str(home), TZ="UTC")


def jobs_file(folder: Path, *jobs: Any) -> Path:
    file = folder / "jobs.json"
    file.write_text(json.dumps({"version": 1, "jobs": jobs}))
    return file


def stored(home: Path) -> list[tuple[str, str]]:
    url = sqlite_url(home / "navi.sqlite3")
    schema.prepare(url)
    engine = open_engine(url)
    with engine.connect() as connection:
        rows = [(each.id, each.category.value) for each in automations.list_automations(connection)]
    engine.dispose()
    return rows


def test_jobs_are_taken_once_and_the_file_left_alone(tmp_path: Path) -> None:
    file = jobs_file(tmp_path, JOB)
    before = file.read_bytes()
    first = run(tmp_path / "home", str(file))
    assert (first.returncode, first.stdout) == (0, "imported old one (old1), legacy\n")
    second = run(tmp_path / "home", str(file))
    assert (second.returncode, second.stdout) == (0, "already imported: old one (old1)\n")
    assert stored(tmp_path / "home") == [("old1", "legacy")]
    assert file.read_bytes() == before


def test_a_job_that_cannot_be_imported_is_named_and_the_rest_imported(tmp_path: Path) -> None:
    bound = {**JOB, "id": "b", "payload": {**JOB["payload"], "sessionKey": "gone"}}  # type: ignore[dict-item]
    done = run(tmp_path / "home", str(jobs_file(tmp_path, {"id": "x"}, bound, JOB)), "--json")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert report["imported"] == ["old1"]
    assert [each["job"] for each in report["refused"]] == ["job 1 (x)", "old one (b)"]
    assert "--session gone=ID" in report["refused"][1]["reason"]


def test_an_absurd_job_is_named_and_the_good_one_beside_it_taken(tmp_path: Path) -> None:
    absurd = {**JOB, "id": "absurd", "schedule": {"kind": "every", "everyMs": 1e15}}
    half = {**JOB["payload"], "channelMeta": {"id": "half \ud800"}}  # type: ignore[dict-item]
    unstorable = {**JOB, "id": "unstorable", "payload": half}
    done = run(tmp_path / "home", str(jobs_file(tmp_path, absurd, unstorable, JOB)))
    assert (done.returncode, done.stdout) == (1, "imported old one (old1), legacy\n")
    first, second = done.stderr.splitlines()
    assert first.startswith("not imported: job 1 (old one): its interval is 1000000000000; ")
    assert "(10 years)" in first
    assert second.startswith("not imported: job 2 (old one): its channel_meta contains half")


def test_navis_own_jobs_are_left_to_the_settings(tmp_path: Path) -> None:
    own = {**JOB, "id": "heartbeat", "name": "heartbeat", "enabled": True}
    done = run(tmp_path / "home", str(jobs_file(tmp_path, own)))
    assert (done.returncode, done.stdout) == (0, "")
    assert "heartbeat (heartbeat) is built into Navi, so it was not imported" in done.stderr
    assert "the setting [automations] heartbeat enables it" in done.stderr
    assert stored(tmp_path / "home") == []


def test_a_corrupt_file_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "jobs.json"
    file.write_text("{")
    done = run(tmp_path / "home", str(file))
    assert done.returncode == 1
    assert done.stderr.startswith("error: it is not JSON")
    assert stored(tmp_path / "home") == []
    assert file.read_text() == "{"
