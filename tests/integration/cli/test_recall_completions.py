"""What a shell offers after `recall`."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from tests.integration.cli.recall_runs import Recall, offered
from tests.memory_world import World


def test_sessions_are_offered_with_their_titles(full: World, recall: Recall) -> None:
    ids = [each["id"] for each in recall("list", "--json").json]
    for command in ("show", "resume", "export", "tag", "untag"):
        assert offered(command, "") == ids
    assert offered("show", ids[0][:6]) == [ids[0]]
    assert offered("search", "--session", ids[1][:6]) == [ids[1]]
    assert [line.split("\t")[0] for line in offered("show", "", shell="fish")] == ids
    assert "~/shop" in offered("show", ids[0], shell="fish")[0].split("\t")[1]


def test_names_of_what_is_indexed_are_offered(full: World, recall: Recall) -> None:
    recall("tag", "shop-session", "important")
    assert offered("list", "--tag", "") == ["important"]
    assert offered("list", "--project", "~/g") == ["~/garden"]
    assert offered("list", "--source", "c") == ["claude-code", "codex"]
    assert offered("search", "--tool", "b") == ["Bash"]


def test_filters_are_offered_whole(full: World) -> None:
    assert offered("search", "auth", "age") == ["agent:claude-code", "agent:codex", "agent:navi"]
    assert offered("search", "agent:co") == ["agent:codex"]
    assert offered("search", "outcome:f") == ["outcome:failed"]
    assert offered("search", "or") == [
        f"origin:{name}" for name in ["user", "recall", "automation", "agent", "reminder", "answer"]
    ]
    assert offered("search", "tool:b") == ["tool:Bash"]
    assert offered("search", "project:~/g") == ["project:~/garden"]
    assert "after:7d" in offered("search", "af")
    assert offered("search", "auth") == offered("search", "") == offered("search", "nothing:") == []


def test_bash_breaks_words_at_colons_and_gets_the_values(full: World) -> None:
    assert offered("search", "auth", "agent", ":") == ["claude-code", "codex", "navi"]
    assert offered("search", "agent", ":", "co") == ["codex"]
    assert offered("search", "outcome", ":", "s") == ["stopped"]


def test_commands_are_offered(recall: Recall) -> None:
    assert offered("st") == ["stats"]
    assert offered("stats", "to") == ["tools", "tokens"]


def test_without_an_index_nothing_is_offered(recall: Recall) -> None:
    assert offered("show", "") == []
    assert offered("list", "--tag", "") == []


def test_completing_reads_the_full_text_only(full: World) -> None:
    script = (
        "import os, sys\n"
        "os.environ |= {'_RECALL_COMPLETE': 'bash_complete', 'COMP_WORDS': 'recall show ',\n"
        "               'COMP_CWORD': '2'}\n"
        "from navi.cli.recall.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'duckdb', 'pydantic', 'asyncio'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.stdout.splitlines()[-1] == "[]"


def test_fish_is_not_told_to_offer_files(recall: Recall) -> None:
    assert "complete --no-files --command recall" in recall("completions", "fish").out


def test_the_zsh_script_starts_the_completion_system_if_nobody_has(recall: Recall) -> None:
    script = recall("completions", "zsh").out
    assert script.startswith("#compdef recall\n")
    assert script.index("compinit") < script.index("compdef _recall_completion")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_accepted_by_its_shell(recall: Recall, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = recall("completions", shell).out
    bare = {"zsh": ["-f"], "bash": ["--norc"], "fish": ["--no-config"]}[shell]
    ran = subprocess.run([shell, *bare, "-c", script], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
