"""The command lines that open agents in panes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from navi.live.agents.command_line.agent_environment import Launch
from navi.vendors.registry import vendors
from tests.integration.agents.builtin_turns import a_request, a_session


@pytest.mark.parametrize("program", ["claude_code", "codex"])
def test_the_agent_in_a_pane_gets_the_session_s_model(program: str, tmp_path: Path) -> None:
    launch = Launch("agent", ["--quiet"], {"HOME": str(tmp_path)}, tmp_path)
    terminal = vendors()[program].terminal(launch)
    assert terminal is not None
    session = replace(a_session(), driver="tmux", program=program, model=None)

    usual = terminal.command(a_request("hello", session=session))
    chosen = terminal.command(a_request("hello", session=replace(session, model="some-model")))

    assert (usual[0], "--quiet" in usual) == ("agent", True)
    assert [each for each in chosen if each not in usual] == ["--model=some-model"]
