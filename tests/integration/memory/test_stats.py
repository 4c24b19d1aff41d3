"""Numbers: each use and each answer counts once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from navi.memory import database
from navi.memory.read import statistics
from navi.memory.read.health import health
from navi.memory.read.statistics import Scope
from tests.memory_world import START, World


def ask(world: World, question: Any, *arguments: Any) -> Any:
    with database.reading(world.paths) as connection:
        return question(connection, *arguments)


def test_the_overview_adds_up(world: World) -> None:
    world.file("one").say("pear").run("ls").think("hm")
    world.file("two", "garden").say("plum")
    world.index()
    overview = ask(world, statistics.overview, Scope())
    assert (overview["sessions"], overview["messages"], overview["tool_calls"]) == (2, 4, 1)
    assert (overview["input_tokens"], overview["output_tokens"]) == (20, 10)
    assert overview["by_source"]["claude_code"]["sessions"] == 2
    assert overview["first"] == START
    assert overview["last"] == START + timedelta(seconds=2)


def test_tools_and_commands_are_counted(world: World) -> None:
    file = world.file()
    for command in ("git commit -m 'msg' && git push", "git commit", "kubectl get pods", "ls"):
        file.run(command)
    file.run("x", tool="Read")
    world.index()
    assert ask(world, statistics.tools, Scope()) == [
        {"tool_name": "Bash", "count": 4, "sessions": 1},
        {"tool_name": "Read", "count": 1, "sessions": 1},
    ]
    assert ask(world, statistics.bash_commands, Scope()) == [
        {"bash_base": "git", "bash_sub": "commit", "count": 2, "compound": 1},
        {"bash_base": "kubectl", "bash_sub": "get", "count": 1, "compound": 0},
        {"bash_base": "ls", "bash_sub": None, "count": 1, "compound": 0},
    ]


def test_a_copied_history_costs_nothing_again(world: World) -> None:
    first = world.file("one").say("question").say("answer", "assistant").run("ls -l")
    copy = world.file("two")
    copy.raw(first.path.read_bytes())
    copy.count = first.count
    copy.say("another answer", "assistant")
    world.index()
    (row,) = ask(world, statistics.tokens, Scope(), ())
    assert (row["input_tokens"], row["output_tokens"]) == (30, 15)
    assert row["cost_usd"] == pytest.approx(30 * 15 / 1e6 + 15 * 75 / 1e6)
    assert ask(world, statistics.overview, Scope())["input_tokens"] == 30
    (command,) = ask(world, statistics.commands, Scope())
    assert (command.command, command.count) == ("ls -l", 1)


def test_a_copied_history_is_counted_once_by_everything(world: World) -> None:
    first = world.file("one").say("question").say("answer", "assistant").run("ls -l", tool="Bash")
    copy = world.file("two")
    copy.raw(first.path.read_bytes())
    copy.count = first.count
    copy.say("new question").run("pwd")
    # The same times, but other texts: not a copy.
    world.file("three").say("another question").run("git status")
    world.index()
    overview = ask(world, statistics.overview, Scope())
    assert (overview["sessions"], overview["messages"], overview["tool_calls"]) == (3, 7, 3)
    assert (overview["copied_messages"], overview["copied_tool_calls"]) == (3, 1)
    assert sum(row["count"] for row in ask(world, statistics.tools, Scope())) == 3
    assert sum(row["count"] for row in ask(world, statistics.bash_commands, Scope())) == 3
    assert sum(row.count for row in ask(world, statistics.commands, Scope())) == 3
    assert [row["messages"] for row in ask(world, statistics.projects, Scope())] == [7]
    assert sum(row["messages"] for row in ask(world, statistics.activity, Scope())) == 7


def test_index_list_stats_and_doctor_agree(world: World) -> None:
    world.file("one").say("pear").say("answer", "assistant").run("ls")
    world.file("two").say("plum")
    world.file("agent-warm").say("Warmup").say("ok", "assistant")
    world.file("empty").raw(b'{"type":"mode","mode":"x"}\n')
    world.file("binary").raw(b"\xff\xfe\n")
    world.file("half").raw(b'{"type":"us')
    result = world.index()
    overview = ask(world, statistics.overview, Scope())
    state = health(world.paths, START + timedelta(days=1))
    assert len(world.sessions()) == overview["sessions"] == state.sessions == 2
    assert result.messages == overview["messages"] == state.messages == 4
    assert result.tool_calls == overview["tool_calls"] == 1
    assert (result.indexed, result.failed, result.total) == (5, 1, 6)
    assert state.silent_files == 2


def test_tokens_are_grouped_by_project_period_and_model(world: World) -> None:
    world.file("one").say("a", "assistant")
    world.file("two", "garden").say("b", "assistant").say("c", "assistant", model="made-up-9")
    world.index()
    rows = ask(world, statistics.tokens, Scope(), ("project", "month", "model"))
    groups = [(row["project"].split("/")[-1], row["period"], row["model"]) for row in rows]
    assert groups == [
        ("garden", "2026-03", "claude-opus-4"),
        ("garden", "2026-03", "made-up-9"),
        ("shop", "2026-03", "claude-opus-4"),
    ]
    assert rows[1]["cost_usd"] is None
    assert rows[1]["unpriced_models"] == ["made-up-9"]
    (total,) = ask(world, statistics.tokens, Scope(), ("week",))
    assert (total["period"], total["input_tokens"], total["model"]) == ("2026-W09", 30, None)
    assert total["unpriced_models"] == ["made-up-9"]
    (garden,) = ask(world, statistics.tokens, Scope(project="garden"), ("day",))
    assert (garden["period"], garden["input_tokens"]) == ("2026-03-01", 20)
    assert ask(world, statistics.tokens, Scope(since=START + timedelta(days=1)), ()) == []
