from __future__ import annotations

import pytest

from navi.live.agents.command_line.agent_environment import (
    COMMON_VARIABLES,
    ServerAccess,
    visible_variables,
    with_identity,
)
from navi.vendors.claude_code.environment import CLOUDS
from navi.vendors.registry import vendors
from tests.paths import ROOT

CLAUDE_CODE, CODEX = vendors()["claude_code"], vendors()["codex"]
NESTING = (*CLAUDE_CODE.nesting_prefixes, *CODEX.nesting_prefixes)

SERVER = {
    "PATH": "/bin",
    "HOME": "/home/ada",
    "LC_ALL": "C.UTF-8",
    "XDG_RUNTIME_DIR": "/run/user/1",
    "SSH_AUTH_SOCK": "/run/agent",
    "HTTPS_PROXY": "http://proxy",
    "NAVI_HOME": "/home/ada/navi",
    "NAVI_TOKEN": "the server's",
    "NAVI_DATABASE_URL": "postgresql://navi:password@host/navi",
    "ANTHROPIC_API_KEY": "for Claude Code",
    "OPENAI_API_KEY": "for Codex",
    "AWS_SECRET_ACCESS_KEY": "of somebody",
    "GITHUB_TOKEN": "of somebody",
    "CLAUDECODE": "1",
    "CLAUDE_CODE_ENTRYPOINT": "cli",
    "CODEX_THREAD_ID": "of the agent that started this server",
    "TMUX": "/tmp/tmux",
}
PLAIN = {
    *("PATH", "HOME", "LC_ALL", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "HTTPS_PROXY", "NAVI_HOME"),
}


def test_a_command_sees_what_tools_need_and_no_keys() -> None:
    assert set(visible_variables(SERVER)) == PLAIN


def test_each_agent_sees_the_keys_of_its_own_models() -> None:
    assert set(visible_variables(SERVER, CLAUDE_CODE.variables(SERVER), NESTING)) == {
        *PLAIN,
        "ANTHROPIC_API_KEY",
    }
    assert set(visible_variables(SERVER, CODEX.variables(SERVER), NESTING)) == {
        *PLAIN,
        "OPENAI_API_KEY",
    }


def test_claude_code_sees_the_keys_of_the_cloud_that_it_is_set_to_use() -> None:
    server = {**SERVER, "CLAUDE_CODE_USE_BEDROCK": "1"}
    seen = visible_variables(server, CLAUDE_CODE.variables(server), NESTING)
    assert {"CLAUDE_CODE_USE_BEDROCK", "AWS_SECRET_ACCESS_KEY"} <= set(seen)


@pytest.mark.parametrize(
    ("passed", "more"),
    [
        (["GITHUB_TOKEN"], {"GITHUB_TOKEN"}),
        (["AWS_*"], {"AWS_SECRET_ACCESS_KEY"}),
        (["CODEX_THREAD_ID"], {"CODEX_THREAD_ID"}),
        (["NAVI_TOKEN"], set()),
    ],
)
def test_a_person_can_pass_on_more(passed: list[str], more: set[str]) -> None:
    assert set(visible_variables(SERVER, passed, NESTING)) == PLAIN | more


def test_a_star_passes_on_all_but_the_servers_token_and_what_says_whose_child_it_is() -> None:
    hidden = {"NAVI_TOKEN", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CODEX_THREAD_ID", "TMUX"}
    assert set(visible_variables(SERVER, ["*"], NESTING)) == set(SERVER) - hidden


def test_the_guide_lists_all_that_agents_see() -> None:
    guide = (ROOT / "docs" / "how-to" / "agents.md").read_text()
    names = {
        *COMMON_VARIABLES,
        *CLAUDE_CODE.variables({}),
        *CODEX.variables({}),
        *(name for each in CLOUDS.values() for name in each),
    }
    assert [name for name in sorted(names) if f"`{name.upper()}`" not in guide] == []


async def test_an_agent_finds_its_session_the_server_and_its_own_token() -> None:
    async def token_of(session_id: str) -> str:
        return f"token of {session_id}"

    environment = await with_identity(
        {"PATH": "/bin"}, "s1", ServerAccess("http://127.0.0.1:8420", token_of)
    )
    assert environment == {
        "PATH": "/bin",
        "NAVI_SESSION_ID": "s1",
        "NAVI_URL": "http://127.0.0.1:8420",
        "NAVI_TOKEN": "token of s1",
    }
