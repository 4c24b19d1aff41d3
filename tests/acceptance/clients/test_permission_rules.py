"""The suggested rules and guards do in the real Claude Code what we say they do."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from navi.permissions.suggestions import Confidence, suggest
from tests.acceptance.clients.world import World
from tests.unit.permissions.ordinary_history import ordinary_history
from tests.unit.permissions.tricky_commands import OUTSIDE

REFUSALS = ("approval", "permission", "was blocked", "checked before it runs", "Brace expansion")
# Stand-ins for programs that may not be installed; they record that they ran.
PROGRAMS = ("rg", "pytest", "cargo", "go", "kubectl", "ruff", "mypy", "npm", "uv")

RUN_UNASKED = [
    "git status",
    "git log --oneline -1",
    "git diff a.txt",
    "git show HEAD --stat",
    "git log -1 2>&1 | head -1",
    "git status > /dev/null",
    "rg process.env",
    "cat a.txt",
    "grep hello a.txt",
    "find . -name '*.txt'",
    "pytest -q tests/test_a.py",
    "CI=1 pytest -q",
    "timeout 60 pytest -q",
    "python -m pytest --version",
    "uv run pytest -x",
    "cargo test parser",
    "go test ./... -run X -count=1",
    "kubectl get pods -A -o wide",
    "ruff check src",
    "mypy src",
    "npm test",
    "npm test -- cart",
    "cd . && git status",
    # Rules do not see where input comes from, and Claude Code allows files of the project.
    "cat < .env",
]
ASKED_ABOUT = [
    "git log -1 --output=made",
    "git log -1 '--output=made'",
    'git log -1 --out"put"=made',
    "git log -1 -'-output=made'",
    "git log -1 $'--output=made'",
    "git log -1 $'\\x2d-output=made'",
    "git log -1 -{-output=made,x}",
    "git log -1 $X",
    "git diff --outp=made",
    "git show 'a\nb' --output=made",
    "timeout 5 git log --output=made",
    "CI=1 git log --output=made",
    "git log -1 | git log --output=made",
    "git diff --ext-diff",
    "echo --output=made | xargs git log",
    "git status > made",
    "git status >> made",
    "rg --pre ./evil hello",
    "rg hello --pre=./evil",
    "find . -name x -delete",
    "find . -exec touch made {} +",
    "find . -fprint made",
    "pytest -p evil",
    "pytest -qp evil",
    "pytest tests --basetemp=made",
    "pytest @evil",
    "python -m pytest -o log_file=made",
    "uv run pytest --junitxml=made",
    "cargo test --config evil",
    "cargo test -- --logfile made",
    "go test -exec ./evil ./...",
    "go test -c ./...",
    "kubectl get secret",
    "kubectl get pods -Aojson",
    "ruff check --fix .",
    "ruff check -qo made .",
    "mypy --python-exec ./evil src",
    "npm test -- --reporter=./evil.js",
    "npm test -- cart -u",
    "npm test --script-shell=./evil",
    "EVIL=1 pytest -q",
    "cat .env",
    "cat ./.env",
    'cat ".e"nv',
    "cat .e*",
    "cat .?nv",
    "cat .[e]nv",
    "cat .*",
    "cat *.env",
    "head -1 sub/.env.local",
    "grep x server.key",
    "grep x server.key a.txt",
    "git show HEAD:.env",
    "cat ~/.ssh/id_rsa",
    "cat < ~/.ssh/id_rsa",
    "cat /etc/hostname",
    "wc --files0-from=a.txt",
    "diff --from-file=/etc/hostname a.txt",
    "pushd / && cat etc/hostname",
    "cd / && cat etc/hostname",
]


@pytest.fixture
def prepared(world: World) -> World:
    """A repository, and the settings that `recall stats bash --suggest --apply` would write."""
    suggestions = suggest(ordinary_history()).suggestions
    sure = [each for each in suggestions if each.confidence is not Confidence.REVIEW]
    (world.home / ".claude").mkdir()
    guards = sorted({guard for each in sure for guard in each.guards})
    permit(world, [each.rule for each in sure], guards)
    for name in PROGRAMS:
        program = world.home / "bin" / name
        program.write_text("#!/bin/sh\necho ran\n")
        program.chmod(0o755)
    (world.work / "a.txt").write_text("hello\n")
    (world.work / ".env").write_text("X=1\n")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for order in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run([*git, *order], cwd=world.work, check=True)
    return world


def permit(world: World, allow: list[str], ask: list[str]) -> None:
    settings = world.home / ".claude" / "settings.json"
    settings.write_text(json.dumps({"permissions": {"allow": allow, "ask": ask}}))


def run(world: World, commands: list[str]) -> dict[str, str]:
    """What the client answers to the model for each command."""
    script = " ".join(f"[[bash: {command}]]" for command in commands)
    claude = [str(world.home / "bin" / "claude"), "--output-format", "stream-json", "--verbose"]
    ran = subprocess.run(
        [*claude, "-p", f"{script} [[say: done]]"],
        cwd=world.work,
        env={**world.environment, "HOME": str(world.home), "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    results = [
        str(block["content"])
        for line in lines
        if line["type"] == "user"
        for block in line["message"]["content"]
        if isinstance(block, dict) and block["type"] == "tool_result"
    ]
    return dict(zip(commands, results, strict=True))


def is_refused(answer: str) -> bool:
    return any(word in answer for word in REFUSALS)


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".pytest_cache", ".benchmarks"}


def test_what_is_suggested_runs_without_a_question(prepared: World) -> None:
    answers = run(prepared, RUN_UNASKED)
    assert {command: answer for command, answer in answers.items() if is_refused(answer)} == {}


@pytest.mark.proof
def test_what_the_guards_are_for_is_asked_about(prepared: World) -> None:
    answers = run(prepared, [*ASKED_ABOUT, *OUTSIDE])
    assert [command for command, answer in answers.items() if not is_refused(answer)] == []
    assert files(prepared.work) == {".git", ".env", "a.txt"}


def test_without_its_guards_a_wide_rule_would_let_harm_pass(prepared: World) -> None:
    permit(prepared, ["Bash(git log:*)"], [])
    answers = run(prepared, ["git log -1 --output=made", "git log -1 > made-as-well"])
    assert list(map(is_refused, answers.values())) == [False, True]
    assert "made" in files(prepared.work)
