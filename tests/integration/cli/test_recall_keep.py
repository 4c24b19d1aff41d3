"""`recall keep` and `recall restore`, and what `recall doctor` says before sessions go."""

from __future__ import annotations

import json
import os
import time

import pytest

from tests.integration.cli.recall_runs import Recall
from tests.memory_world import World

DAY = 86_400


def path_of(world: World) -> str:
    return str(world.home / ".claude" / "projects" / "-shop" / "shop-session.jsonl")


def test_a_kept_session_is_listed_as_kept_and_comes_back(full: World, recall: Recall) -> None:
    path = path_of(full)
    assert recall("keep", "shop-session").out.startswith("keeping 1 file, ")
    with open(path, "rb") as file:
        text = file.read()
    os.unlink(path)

    assert "[kept]" in recall("list").out
    [session] = [each for each in recall("list", "--json").json if each["is_archived"]]
    shown = recall("show", session["id"])
    assert f"`recall restore {session['id']}` brings the file back" in shown.out
    assert "a copy was kept; first run: recall restore" in recall("resume", session["id"]).err

    restored = recall("restore", "shop-session")

    assert restored.out == f"restored {path}\n"
    with open(path, "rb") as file:
        assert file.read() == text
    assert time.time() - os.stat(path).st_mtime < DAY
    assert recall("resume", "shop-session").err == ""
    assert "[kept]" not in recall("list").out


def test_a_session_that_was_not_kept_cannot_be_restored(full: World, recall: Recall) -> None:
    refused = recall("restore", "shop-session")
    assert refused.code == 1
    assert "was kept" in refused.err
    assert "recall keep" in refused.err


def test_nothing_can_be_kept_of_a_file_that_is_gone(full: World, recall: Recall) -> None:
    os.unlink(path_of(full))
    refused = recall("keep", "shop-session")
    assert "is gone" in refused.err
    assert refused.code != 0


def test_all_sessions_are_kept_and_listed(full: World, recall: Recall) -> None:
    kept = recall("keep", "--all")
    assert kept.out.startswith("keeping 2 files, ")
    assert 'sessions = "all"' in kept.err
    rows = recall("keep", "--json").json
    assert {row["path"] for row in rows} == {str(path) for path in full.home.rglob("*.jsonl")}
    assert [row["is_gone"] for row in rows] == [False, False]
    assert "2 kept files" in recall("keep").err


def test_the_last_copy_is_deleted_only_on_request(full: World, recall: Recall) -> None:
    recall("keep", "shop-session")
    os.unlink(path_of(full))
    refused = recall("keep", "--off", "shop-session")
    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert len(recall("keep", "--json").json) == 1
    assert recall("keep", "--off", "shop-session", "--yes").out.startswith("deleted 1 kept file")
    assert recall("keep", "--json").json == []


def test_a_different_file_is_not_replaced_without_a_word(full: World, recall: Recall) -> None:
    recall("keep", "shop-session")
    with open(path_of(full), "w") as file:
        file.write("newer\n")
    refused = recall("restore", "shop-session")
    assert "there is another file" in refused.err
    with open(path_of(full)) as file:
        assert file.read() == "newer\n"
    assert "is now" in recall("restore", "shop-session", "--yes").err


def findings(recall: Recall, name: str) -> list[dict[str, str]]:
    return [each for each in recall("doctor", "--json").json if each["name"] == name]


@pytest.mark.parametrize(
    ("settings", "age_days", "is_warned"),
    [({}, 25, True), ({}, 20, False), ({"cleanupPeriodDays": 90}, 25, False), ({}, 31, True)],
)
def test_doctor_warns_before_claude_code_deletes_sessions(
    full: World, recall: Recall, settings: dict[str, int], age_days: int, is_warned: bool
) -> None:
    (full.home / ".claude" / "settings.json").write_text(json.dumps(settings))
    changed_at = time.time() - age_days * DAY
    os.utime(path_of(full), (changed_at, changed_at))

    [finding] = findings(recall, "deletion")

    assert finding["status"] == ("note" if is_warned else "ok")
    if is_warned:
        assert "1 of 2 sessions will be deleted within 7 days" in finding["detail"]
        assert "`recall keep --all`" in finding["hint"]
        recall("keep", "--all")
        [finding] = findings(recall, "deletion")
        assert finding["status"] == "ok"


def test_doctor_says_how_much_is_kept_and_what_is_missing(full: World, recall: Recall) -> None:
    assert "keeps the chosen sessions: 0 files" in findings(recall, "kept")[0]["detail"]
    recall("keep", "shop-session")
    [finding] = findings(recall, "kept")
    assert ("1 file, " in finding["detail"], finding["status"]) == (True, "ok")
    for copy in full.paths.kept.glob("*.gz"):
        copy.unlink()
    assert [each["status"] for each in findings(recall, "kept")] == ["ok", "problem"]
    recall("keep", "shop-session")
    assert [each["status"] for each in findings(recall, "kept")] == ["ok"]
