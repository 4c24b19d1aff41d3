from __future__ import annotations

from pathlib import Path

import pytest

from navi.live.agents.builtin.models import is_model_name, suggested_models
from navi.live.agents.driver import Driver
from navi.live.runtime.services.agent_catalogue import (
    AgentCatalogue,
    AgentProgram,
    default_driver,
)

PREFERRED = ("claude_code", "codex")


class Pane(Driver):
    runs_programs = True


DRIVERS = {name: Driver() for name in ("builtin", "scripted", "claude_code", "codex")}


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "agent"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def catalogue(claude: str, codex: str, models: tuple[str, ...] = ()) -> AgentCatalogue:
    programs = {
        "claude_code": AgentProgram("Claude Code", claude, ("opus",)),
        "codex": AgentProgram("Codex", codex),
        "tmux": AgentProgram("Claude Code in a terminal (tmux)", "no-such-tmux"),
    }
    return AgentCatalogue({**DRIVERS, "tmux": Pane()}, programs, models, PREFERRED)


@pytest.mark.parametrize(
    ("has_model", "installed", "driver"),
    [
        (True, ["claude_code", "codex"], "builtin"),
        (True, [], "builtin"),
        (False, ["claude_code", "codex"], "claude_code"),
        (False, ["codex", "tmux"], "codex"),
        (False, ["tmux"], "builtin"),
        (False, [], "builtin"),
    ],
)
def test_the_default_driver_depends_on_the_model_and_what_is_installed(
    has_model: bool, installed: list[str], driver: str
) -> None:
    assert default_driver(PREFERRED, installed, has_model=has_model) == driver


def test_a_model_of_the_built_in_agent_chooses_that_agent(program: str) -> None:
    agents = catalogue(claude=program, codex="no-such-codex")
    assert agents.default_driver(None) == "claude_code"
    assert agents.default_driver("opus") == "claude_code"
    assert agents.default_driver("openai:gpt-5.2") == "builtin"
    assert agents.default_driver("scripted") == "builtin"


def test_each_agent_says_whether_it_can_run_here(program: str) -> None:
    options = {each.driver: each for each in catalogue(program, "no-such-codex").options()}
    reasons = {driver: each.reason for driver, each in options.items()}
    assert reasons == {
        "builtin": "no model is set up",
        "claude_code": None,
        "codex": "not on the PATH",
        "tmux": "not on the PATH",
        "scripted": None,
    }
    assert list(options)[-1] == "scripted"
    assert [driver for driver, each in options.items() if each.is_default] == ["claude_code"]
    assert [driver for driver, each in options.items() if each.takes_program] == ["tmux"]
    assert options["claude_code"].models == ("opus",)


def test_a_model_makes_the_built_in_agent_the_default(program: str) -> None:
    (first, *_) = catalogue(program, program, models=("openai:m",)).options()
    assert (first.driver, first.reason, first.is_default) == ("builtin", None, True)
    assert first.models == ("openai:m",)


def test_the_demo_is_never_the_default() -> None:
    options = catalogue("no-such-claude", "no-such-codex").options()
    assert [each.driver for each in options if each.is_default] == ["builtin"]


def test_only_models_that_need_no_more_set_up_are_suggested() -> None:
    keys = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}
    assert suggested_models({}, None) == []
    assert suggested_models({}, "openai:mine") == ["openai:mine"]
    assert len(suggested_models(keys, "openai:mine")) == 3
    first, second = suggested_models(keys, None)
    assert suggested_models(keys, second) == [second, first]
    assert all(is_model_name(each) for each in (first, second, "scripted"))
    assert not is_model_name("opus")
