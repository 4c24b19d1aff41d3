"""The command that resumes a session, to be pasted into a shell."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navi.base.control_characters import without_control_characters
from navi.memory.resume import resumable_id, shell_line

CHARACTERS = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
WORDS = st.text(CHARACTERS) | st.text("a'\"\\ $é\n\x1b\x9b\u202e", max_size=8)


def in_bash(line: str, folder: Path | None = None) -> str:
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    ran = subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, check=True
    )
    return ran.stdout.decode()


@settings(max_examples=50)
@given(st.lists(WORDS, min_size=1, max_size=4))
def test_a_shell_reads_the_words_that_were_meant(words: list[str]) -> None:
    line = shell_line(["printf", "%s\\0", *words], None)
    assert without_control_characters(line) == line
    assert in_bash(line) == "".join(f"{word}\0" for word in words)


@pytest.mark.parametrize(
    "name", ["it's", "$(touch x)", "-P", "-", "a\tb\nc", "esc\x1b[2J", "\u202eleft", "日本"]
)
def test_the_line_leads_to_the_very_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    for folder in (name, str(tmp_path / name)):
        assert in_bash(shell_line(["pwd"], folder), tmp_path) == f"{tmp_path / name}\n"
    assert not (tmp_path / "x").exists()


def test_a_name_that_is_not_an_id_cannot_be_messaged() -> None:
    row = {"parent_source_session_id": None, "is_subagent": False, "source_session_id": "--evil"}
    assert resumable_id(row) is None
    assert resumable_id({**row, "source_session_id": "6f1c0d52-58b1"}) == "6f1c0d52-58b1"
    child = {"parent_source_session_id": "-c", "is_subagent": True, "source_session_id": "agent-1"}
    assert resumable_id(child) is None
