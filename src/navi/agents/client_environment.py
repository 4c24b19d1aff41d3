"""What an agent that Navi starts finds in its environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from navi.domain.session import Session

# These say whose child a process is, and would make the agent believe that it runs inside another.
NESTING = ("CLAUDE", "CODEX", "TMUX")
# The same prefixes carry settings of the person, which stay.
SETTINGS = (
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_",
    "CLAUDE_CODE_SKIP_",
    "CLAUDE_CODE_DISABLE_",
    "CLAUDE_CODE_ENABLE_",
    "CLAUDE_CODE_MAX_",
    "CODEX_HOME",
    "CODEX_API_KEY",
    "TMUX_TMPDIR",
)


@dataclass(frozen=True, slots=True)
class Reach:
    """How an agent's tools reach this server."""

    address: str
    token: str


def environment_of(
    session: Session, environment: Mapping[str, str], reach: Reach | None
) -> dict[str, str]:
    """`NAVI_SESSION_ID` tells `sm` and the MCP server who calls."""
    kept = {
        name: value
        for name, value in environment.items()
        if not name.startswith(NESTING) or name.startswith(SETTINGS)
    }
    kept["NAVI_SESSION_ID"] = session.id
    if reach is not None:
        kept |= {"NAVI_URL": reach.address, "NAVI_TOKEN": reach.token}
    return kept
