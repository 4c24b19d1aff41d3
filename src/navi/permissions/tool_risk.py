"""How risky an agent's tool call is, for the person who decides about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from navi.permissions.bash_rule import rules_pattern
from navi.permissions.guards import names_secret_file
from navi.permissions.judgement import Harm
from navi.permissions.risk import judge
from navi.permissions.shell.shell_line import read_command


class Risk(StrEnum):
    LOW = "low"
    """Only reads, or runs the repository's tests or checks."""
    UNKNOWN = "unknown"
    HIGH = "high"
    """Writes, deletes, shows secrets, uses the network, or runs arbitrary code."""


COMMAND_TOOLS = frozenset({"bash", "terminal", "shell", "exec_command", "local_shell", "monitor"})
"""Tools that run a shell command, named in lower case."""
READING_TOOLS = frozenset({"read", "glob", "grep", "ls", "notebookread", "todowrite"})
WRITING_TOOLS = frozenset({"write", "edit", "multiedit", "notebookedit", "apply_patch"})
NETWORK_TOOLS = frozenset({"webfetch", "websearch", "http_request"})
_BY_HARM = {
    Harm.NONE: Risk.LOW,
    Harm.RUNS_CHECKS: Risk.LOW,
    Harm.UNKNOWN: Risk.UNKNOWN,
    Harm.CERTAIN: Risk.HIGH,
}


def is_listed(rules: Sequence[str], tool: str, arguments: Mapping[str, Any]) -> bool:
    """Whether the call is harmless, or allowed by rules like `Bash(npm test:*)` or `WebFetch`.

    A shell line qualifies only if each of its commands does.
    """
    command = arguments.get("command")
    if tool.lower() not in COMMAND_TOOLS or not isinstance(command, str):
        return tool in rules or risk_of(tool, arguments)[0] is Risk.LOW
    line = judge(read_command(command))
    if _BY_HARM[line.worst.harm] is Risk.LOW:
        return True
    bash_rules = tuple(rule for rule in rules if rule.startswith("Bash("))
    allowed = rules_pattern(bash_rules)
    return line.is_understood and all(
        _BY_HARM[judgement.harm] is Risk.LOW or allowed.search(" ".join(part.words))
        for part, judgement in zip(line.commands, line.judgements, strict=True)
    )


def risk_of(tool: str, arguments: Mapping[str, Any]) -> tuple[Risk, str]:
    """The risk of the call, and the reason in a few words."""
    name = tool.lower()
    command = arguments.get("command")
    if name in COMMAND_TOOLS and isinstance(command, str):
        worst = judge(read_command(command)).worst
        return _BY_HARM[worst.harm], worst.reason
    if name in READING_TOOLS:
        path = str(arguments.get("file_path") or arguments.get("path") or "")
        if names_secret_file(f"{name} {path}"):
            return Risk.HIGH, "names a file that may hold secrets"
        return Risk.LOW, "only reads"
    if name in WRITING_TOOLS:
        return Risk.HIGH, "writes to files"
    if name in NETWORK_TOOLS:
        return Risk.HIGH, "uses the network"
    if name.startswith("mcp__"):
        return Risk.UNKNOWN, f"a tool of the MCP server {tool.split('__')[1]}"
    return Risk.UNKNOWN, "an unknown tool"
