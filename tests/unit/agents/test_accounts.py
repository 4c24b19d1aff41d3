"""Whose usage limits a session's turns may meet."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from navi.live.agents.builtin.builtin_driver import BuiltinDriver
from navi.live.agents.command_line.agent_environment import Launch
from navi.live.agents.terminal.tmux_driver import TmuxDriver
from navi.live.model.session import Session
from navi.vendors import registry

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
KEY = "sk-" + "0123456789" * 3 + "3f9a"


def session(driver: str, model: str | None = None, program: str | None = None) -> Session:
    return Session.new("ada", driver, "/", NOON, model=model, program=program)


@pytest.mark.parametrize(
    ("model", "environment", "account"),
    [
        ("anthropic:m", {"ANTHROPIC_API_KEY": KEY}, ("anthropic:…3f9a", "builtin", None)),
        ("openai:m", {"OPENAI_API_KEY": "short"}, ("openai", "builtin", None)),
        (
            "openai:m",
            {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"},
            ("http://127.0.0.1:9:…3f9a", "builtin", None),
        ),
        ("scripted", {}, ("scripted:ada", "scripted", "ada")),
        ("anthropic:m", {}, ("builtin:ada", "builtin", "ada")),
    ],
)
def test_the_built_in_agent_has_the_account_of_its_key_which_all_users_share(
    model: str, environment: Mapping[str, str], account: tuple[str, str, str | None]
) -> None:
    actual = BuiltinDriver(environment=environment).account_of(session("builtin", model))
    assert (actual.id, actual.agent, actual.user_id) == account


@pytest.mark.parametrize(
    ("program", "account"),
    [(None, "claude_code:ada"), ("codex", "codex:ada"), ("vim", "tmux:ada")],
)
def test_an_agent_has_the_same_account_in_a_pane(
    tmp_path: Path, program: str | None, account: str
) -> None:
    launch = Launch("agent", [], {"HOME": str(tmp_path)}, tmp_path, None)
    agents = {name: vendor.terminal(launch) for name, vendor in registry.vendors().items()}
    driver = TmuxDriver(
        {name: agent for name, agent in agents.items() if agent is not None},
        default_agent=registry.DEFAULT_PANE_AGENT,
        socket="none",
        runs=tmp_path,
        environment={},
    )
    assert driver.account_of(session("tmux", program=program)).id == account
