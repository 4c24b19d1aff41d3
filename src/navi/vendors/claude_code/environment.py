"""The environment variables that Claude Code needs; `*` matches anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

VARIABLES = (
    *("ANTHROPIC_*", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_*"),
    *("CLAUDE_CODE_SKIP_*", "CLAUDE_CODE_DISABLE_*", "CLAUDE_CODE_ENABLE_*", "CLAUDE_CODE_MAX_*"),
    *("DISABLE_*", "BASH_*_TIMEOUT_MS", "BASH_MAX_OUTPUT_LENGTH", "MAX_THINKING_TOKENS"),
    *("MAX_MCP_OUTPUT_TOKENS", "MCP_TIMEOUT", "MCP_TOOL_TIMEOUT", "IS_SANDBOX"),
)
CLOUDS = {
    "CLAUDE_CODE_USE_BEDROCK": ("AWS_*",),
    "CLAUDE_CODE_USE_VERTEX": ("GOOGLE_*", "GCLOUD_PROJECT", "CLOUD_ML_REGION", "VERTEX_REGION_*"),
    "CLAUDE_CODE_USE_FOUNDRY": ("AZURE_*",),
}
"""The variables of each cloud that can run Claude, by the variable that selects the cloud."""


def variables(environment: Mapping[str, str]) -> Sequence[str]:
    """The variables that Claude Code needs, including those of the selected clouds."""
    clouds = [names for switch, names in CLOUDS.items() if environment.get(switch)]
    return [*VARIABLES, *(name for names in clouds for name in names)]
