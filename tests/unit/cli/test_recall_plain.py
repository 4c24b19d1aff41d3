"""What is read without click is read as click would read it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navi.cli.recall import plain
from navi.cli.recall.index import command as index
from navi.cli.recall.list import command as list_sessions
from navi.cli.recall.main import main
from navi.cli.recall.search import command as search
from tests.index.world import World

COMMANDS = {"index": index, "list": list_sessions, "search": search}
WORDS = st.sampled_from(
    [
        *("--json", "--limit", "--limit=3", "--project", "--project=shop", "--since", "--tag"),
        *("--tool=Bash", "--role", "--session=ab", "--full", "-v", "--verbose", "--recreate"),
        *("--jso", "--limit=x", "--role=nobody", "--since=2026-01-02", "--", "-", "-x", "--help"),
        *("3", "-3", "0", "2000", "user", "shop", "a b", '"a b"', "", "=", "2026-01-02T03:04"),
        *("٣", "1_0", " 7 ", "--json=1", "--source", "codex", "--source=codex"),
    ]
)


@pytest.fixture
def world(private_home: Path) -> World:
    return World(private_home)


def by_click(name: str, words: list[str]) -> dict[str, Any] | None:
    try:
        return COMMANDS[name].make_context(name, [*words], resilient_parsing=False).params
    except (click.ClickException, click.exceptions.Exit):
        return None


@pytest.mark.parametrize("name", COMMANDS)
def test_the_options_are_those_of_click(name: str) -> None:
    known = {
        option: (
            parameter.name,
            parameter.is_flag,
            None if parameter.is_flag else default(parameter),
        )
        for parameter in COMMANDS[name].params
        if isinstance(parameter, click.Option)
        for option in parameter.opts
    }
    read = {
        option: (each.parameter, each.read is None, None if each.read is None else each.default)
        for option, each in plain.COMMANDS[name].options.items()
    }
    assert read == known


def default(parameter: click.Option) -> Any:
    return parameter.default if isinstance(parameter.default, int) else None


@pytest.mark.parametrize("name", COMMANDS)
@settings(deadline=None, max_examples=300)
@given(words=st.lists(WORDS, max_size=6))
def test_a_plain_command_line_means_what_click_takes_it_for(name: str, words: list[str]) -> None:
    read = plain.read(plain.COMMANDS[name], words)
    if read is not None:
        assert read == by_click(name, words)


def test_whole_commands_are_answered_without_click(world: World, capsys, monkeypatch) -> None:
    world.file("shop-session").say("the auth bug")
    for words in (["index"], ["list"], ["list", "--json"], ["search", "auth", "--limit", "5"]):
        monkeypatch.setattr(sys, "argv", ["recall", *words])
        monkeypatch.setitem(sys.modules, "navi.cli.recall.group", None)
        main()
        assert "error" not in capsys.readouterr().err


def test_without_an_index_a_plain_command_fails_like_any_other(
    world: World, capsys, monkeypatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["recall", "list"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert capsys.readouterr().err == "error: nothing is indexed yet\nhint: recall index\n"
