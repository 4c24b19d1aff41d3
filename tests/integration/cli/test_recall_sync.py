"""`recall sync`, `export --all` and `import`, as people type them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests import ssh_stand_in
from tests.integration.cli.recall_runs import Answer, Recall
from tests.memory_world import World


@pytest.fixture
def lap(tmp_path: Path, private_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of another machine, which ssh reaches under the name `lap`; this one is `home`."""
    home = tmp_path / "lap"
    home.mkdir()
    file = World(home).file("lap-session").say("the flux capacitor is fixed")
    call = {"type": "tool_use", "id": "t", "name": "Edit"}
    file.line("assistant", [{**call, "input": {"file_path": f"{home}/shop/flux.py"}}])
    environment = ssh_stand_in.environment(tmp_path, "home")
    monkeypatch.setenv("PATH", environment["PATH"])
    monkeypatch.setenv("PYTHONPATH", environment["PYTHONPATH"])
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "NAVI_HOME"):
        monkeypatch.delenv(name)
    return home


def on_lap(lap: Path, *words: str) -> Answer:
    done = subprocess.run(
        [lap.parent / "bin" / "recall", *words],
        env=ssh_stand_in.environment(lap.parent, "lap"),
        capture_output=True,
        text=True,
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def test_a_sync_by_ssh_makes_both_machines_searchable(
    lap: Path, recall: Recall, private_home: Path
) -> None:
    (private_home / "shop").mkdir()
    World(private_home).file("own").say("the delorean needs petrol")
    answer = recall("sync", "lap", "--map", f"{lap}={private_home}", "--json")
    assert answer.code == 0, answer.err
    counts: dict[str, Any] = answer.json
    assert (counts["sent"], counts["received"], counts["set_aside"]) == (1, 1, [])
    assert recall("sync", "lap").out.endswith("sent 0 sessions, received 0 sessions\n")
    assert "delorean" in on_lap(lap, "search", "delorean").out

    [session] = recall(
        "list", "--project", str(private_home / "shop"), "--host", "here", "--json"
    ).json
    assert session["host"] is None
    hits = recall("search", "flux", "--project", str(private_home / "shop"), "--json").json
    assert {hit["host"] for hit in hits} == {session["host"] for session in hits} - {None}
    host, id = hits[0]["host"], hits[0]["session_id"]
    assert recall("search", f"flux host:{host}", "--json").json == hits
    assert recall("search", "--file", str(private_home / "shop/flux.py"), "--json").json
    assert f"claude-code  {host}" in recall("search", "flux").out
    assert host in recall("list").out
    counts_by_host = [
        recall("stats", "--host", each, "--json").json["sessions"]
        for each in (host.upper(), "here")
    ]
    assert counts_by_host == [1, 1]
    for kind in ("tools", "bash", "tokens"):
        both = [recall("stats", kind, "--host", each).code for each in (host, "here")]
        assert both == [0, 0]
    assert "no tool calls in these sessions" in recall("stats", "tools", "--host", "here").err
    assert f"Host: {host}" in recall("show", id).out
    refused = recall("resume", id)
    assert refused.code == 1
    assert f"session {id} is on {host}, and can be resumed only there" in refused.err
    assert f"recall resume {id}" in refused.err
    assert f"is on {host}" in recall("keep", id).err
    assert recall("keep", "--all").code == 0
    doctor = recall("doctor").out
    assert f"{host} (" in doctor
    assert "1 session" in doctor
    assert "lap: last sync" in doctor
    unknown = recall("list", "--host", "moon")
    assert (unknown.code, f"sessions from {host}" in unknown.err) == (1, True)


def test_a_sync_through_a_folder_and_back(lap: Path, recall: Recall, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    missing = recall("sync", f"{folder}/")
    assert (missing.code, "there is no folder" in missing.err) == (1, True)
    folder.mkdir()
    assert on_lap(lap, "sync", str(folder)).code == 0
    assert recall("sync", str(folder), "--dry-run").out.endswith("receive 1 session\n")
    assert recall("sync", str(folder)).out.endswith("sent 0 sessions, received 1 session\n")
    assert "capacitor" in recall("search", "flux").out


def test_the_peer_can_not_be_an_option_of_ssh(lap: Path, recall: Recall, tmp_path: Path) -> None:
    for peer in ("-oProxyCommand=touch${IFS}x", "a b", "a\x1bb", ""):
        answer = recall("sync", "--", peer)
        assert answer.code == 2
        assert "hint:" in answer.err
    assert recall("sync").code == 2
    assert recall("sync", "lap", "--map", "shop=x").code == 2
    assert recall("sync", "lap", "--only-send", "--only-receive").code == 2


def test_a_peer_that_can_not_be_reached_or_has_no_recall(lap: Path, recall: Recall) -> None:
    World(Path.home()).file("own").say("hello")
    unreachable = recall("sync", "moon")
    assert unreachable.code == 1
    assert "the connection to the peer ended" in unreachable.err
    missing = recall("sync", "lap", "--program", "/opt/recall")
    assert missing.code == 1
    assert "/opt/recall was not found on lap" in missing.err
    assert "--program" in missing.err
    assert recall("sync", "lap", "--program", "recall").code == 0


def test_masking_is_remembered_for_the_peer(lap: Path, recall: Recall) -> None:
    secret = "sk-ant-api03-" + "Abc123Xyz" * 10
    World(Path.home()).file("own").say(f"the key is {secret}")
    assert recall("sync", "lap", "--mask").code == 0
    World(Path.home()).file("other").say(f"again {secret}")
    assert recall("sync", "lap").code == 0
    for file in (lap / ".local/share/recall/recall.hosts").rglob("*.gz"):
        assert secret not in subprocess.check_output(["gzip", "-dc", file], text=True)
    assert "secrets masked" in recall("doctor").out


def test_an_export_of_everything_is_imported_once(
    lap: Path, recall: Recall, tmp_path: Path
) -> None:
    file = tmp_path / "sessions.gz"
    assert on_lap(lap, "export", "--all", str(file)).out == f"exported 1 session to {file}\n"
    assert oct(file.stat().st_mode)[-3:] == "600"
    assert recall("import", str(file)).out == "imported 1 of 1 session\n"
    assert json.loads(recall("import", str(file), "--json").out)["imported"] == 0
    assert "capacitor" in recall("search", "flux").out
    assert recall("export").code == 2
    assert recall("export", "712f", "--all", str(file)).code == 2
