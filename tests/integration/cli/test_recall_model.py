"""`recall model`, `recall index --embed` and `recall search --semantic`."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from navi.memory.semantic.vectors.vector_files import read_manifest
from tests.integration.cli.recall_runs import AS_A_PROCESS, Recall
from tests.memory_world import World
from tests.tiny_model import install_tiny_model, write_tiny_model
from tests.waiting import eventually


@pytest.fixture
def cars(world: World, recall: Recall) -> World:
    world.file("s1").say("my automobile is sluggish")
    world.file("s2").say("paint the slow garden red")
    assert recall("index").code == 0
    return world


def test_from_installing_a_model_to_a_search_by_meaning_and_back(
    cars: World, recall: Recall, tmp_path: Path
) -> None:
    assert recall("model").out == "by words alone: no model is installed\n"
    source = write_tiny_model(tmp_path / "tiny")
    installed = recall("model", "install", "--from", str(source))
    assert installed.code == 0
    assert "installed tiny (256 dimensions" in installed.out
    assert "recall index --embed" in installed.err
    assert "to do: 2 sessions with up to 2 messages" in recall("model").out
    embedded = recall("index", "--embed")
    assert "made 2 vectors for 2 sessions in" in embedded.out
    assert "tiny: 2 passages have vectors; nothing to do" in recall("model").out
    answer = recall("search", "slow", "car", "--semantic")
    assert "my automobile is sluggish" in answer.out
    assert "no passage has all of these words; these are nearest in meaning" in answer.err
    hits = recall("search", "slow", "car", "--semantic", "--alpha", "1", "--json").json
    assert hits[0]["source_session_id"] == "s1"
    assert "automobile" not in recall("search", "slow", "car").out
    assert recall("model", "remove", "--yes").out == "removed tiny\n"
    assert recall("model").out == "by words alone: no model is installed\n"
    assert not cars.paths.vectors.exists()


def test_without_a_model_the_words_answer_and_one_line_says_so(cars: World, recall: Recall) -> None:
    answer = recall("search", "slow", "garden", "--semantic")
    assert "paint the slow garden red" in answer.out
    assert answer.err == (
        "note: searched by words alone: no model is installed; recall model install\n"
    )
    assert "garden" in recall("search", "slow", "garden").out
    refused = recall("index", "--embed")
    assert refused.code == 1
    assert "error: no model is installed\nhint: recall model install" in refused.err


def test_before_all_vectors_are_made_the_words_answer_and_say_so(
    cars: World, recall: Recall, tmp_path: Path
) -> None:
    install_tiny_model(tmp_path)
    answer = recall("search", "slow", "garden", "--semantic")
    assert "garden" in answer.out
    assert "searched by words alone: no passage has a vector yet" in answer.err


@pytest.mark.parametrize(
    ("variable", "value", "problem"),
    [
        ("RECALL_SEMANTIC_ALPHA", "2", "must be a number from 0 to 1"),
        ("RECALL_SEMANTIC_ENABLED", "perhaps", "must be true or false"),
        ("RECALL_SEMANTIC_DIMENSIONS", "many", "must be a number from 1 to"),
    ],
)
def test_a_wrong_setting_is_named(
    cars: World,
    recall: Recall,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    problem: str,
) -> None:
    monkeypatch.setenv(variable, value)
    answer = recall("search", "slow", "--semantic")
    assert f"{variable} {problem}" in answer.err
    assert "garden" in answer.out


def test_the_section_of_the_settings_file_is_read(
    cars: World, recall: Recall, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install_tiny_model(tmp_path)
    path = tmp_path / "config.toml"
    path.write_text("[semantic]\nenabled = false\n")
    monkeypatch.setenv("NAVI_CONFIG", str(path))
    assert "search by meaning is switched off" in recall("model").out


def test_doctor_says_how_many_passages_have_vectors(
    cars: World, recall: Recall, tmp_path: Path
) -> None:
    def finding() -> dict[str, str]:
        (finding,) = [each for each in recall("doctor", "--json").json if each["name"] == "meaning"]
        return dict(finding)

    assert (finding()["status"], finding()["hint"]) == ("ok", "recall model install")
    install_tiny_model(tmp_path)
    assert finding()["status"] == "note"
    assert "to do: 2 sessions" in finding()["detail"]
    recall("index", "--embed")
    assert finding()["status"] == "ok"
    assert "2 passages have vectors" in finding()["detail"]


def test_a_plain_search_imports_none_of_it(cars: World) -> None:
    program = (
        "import sys\n"
        "from navi.cli.recall.main import main\n"
        "sys.argv = ['recall', 'search', 'slow']\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n    assert not end.code\n"
        "heavy = {'numpy', 'onnxruntime', 'tokenizers', 'navi.memory.semantic'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)


def test_ctrl_c_keeps_what_is_done(cars: World, tmp_path: Path) -> None:
    install_tiny_model(tmp_path)
    for session in range(40):
        file = cars.file(f"long{session}")
        for number in range(25):
            file.say(f"the garden {session} has tomato {number} and water")
    cars.index()
    process = subprocess.Popen(
        [*AS_A_PROCESS, "index", "--embed"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )

    def rows() -> int:
        manifest = read_manifest(cars.paths.vectors)
        return 0 if manifest is None else manifest.rows

    asyncio.run(eventually(rows, "the first vectors"))
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    if process.returncode != 0:  # it was not quicker than Ctrl-C
        assert process.returncode == 130
        assert b"the next `recall index --embed` continues there" in errors
        assert 0 < rows() < 1002
    subprocess.run([*AS_A_PROCESS, "index", "--embed"], check=True, stdout=subprocess.DEVNULL)
    assert rows() == 1002


def test_watch_makes_vectors_in_a_process_that_ends_with_it(cars: World, tmp_path: Path) -> None:
    install_tiny_model(tmp_path)
    watch = subprocess.Popen(
        [*AS_A_PROCESS, "watch", "--json"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )

    def is_complete() -> bool:
        manifest = read_manifest(cars.paths.vectors)
        return manifest is not None and (manifest.rows, manifest.pending) == (2, 0)

    try:
        asyncio.run(eventually(is_complete, "vectors"))
        [child] = psutil.Process(watch.pid).children()
        assert child.nice() > os.nice(0)
        watch.kill()
        watch.wait()
        assert child.is_running() is False or child.wait(60) is None
    finally:
        watch.kill()
        watch.communicate()
