"""Codex without a terminal: each turn is one run of `codex exec` on the same thread."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from navi.agents.codex_files import CodexFiles
from navi.agents.codex_lines import CLIENT, CodexReader
from navi.agents.codex_transcript import CodexTranscriptReader
from navi.base.errors import OpenElsewhere
from navi.live.agents.command_line.agent_environment import Reach
from navi.live.agents.command_line.command_line_driver import HeadlessDriver, Order, Reader
from navi.live.agents.driver import TurnRequest
from navi.live.agents.terminal.transcript_tail import Mood, TranscriptReader


class CodexDriver(HeadlessDriver):
    client = CLIENT

    def _order(self, request: TurnRequest, environment: Mapping[str, str]) -> Order:
        thread = request.conversation
        if thread is not None and CodexFiles.of(environment).is_open(thread):
            raise OpenElsewhere(CLIENT, "in a terminal", thread)
        # A session's folder need not be a repository.
        arguments = ["exec", "--json", "--skip-git-repo-check", *self._arguments]
        if request.session.model:
            arguments.append(f"--model={request.session.model}")
        arguments += tool_arguments(self._reach, CodexFiles.of(environment))
        # After `resume` Codex knows fewer options: `--sandbox`, for one, is refused there.
        arguments += ["resume", thread] if thread is not None else []
        return Order([*arguments, "-"], request.prompt)

    def _reader(self, request: TurnRequest) -> Reader:
        return CodexReader(request.spent, CodexFiles.of(self._environment).last_turn)

    def conversation_of(self, request: TurnRequest) -> str | None:
        return request.conversation

    def is_open_elsewhere(self, agent_session_id: str) -> bool:
        return CodexFiles.of(self._environment).is_open(agent_session_id)

    def _transcript(self, agent_session_id: str) -> Path | None:
        return CodexFiles.of(self._environment).rollout(agent_session_id)

    def _mood(self, agent_session_id: str) -> Mood:
        files = CodexFiles.of(self._environment)
        # A terminal that was closed in the middle of a turn left a rollout that never ends.
        return files.mood(agent_session_id) if files.is_open(agent_session_id) else Mood.UNKNOWN

    def _transcript_reader(self) -> TranscriptReader:
        return CodexTranscriptReader(is_handed_over=True)


def tool_arguments(reach: Reach | None, files: CodexFiles) -> list[str]:
    """Navi's tools, from this server itself. The values come from Codex's environment.

    Where `navi setup` made them known to Codex, a second way to them would be an error. The program
    that Codex starts then gets no environment but what is named here.
    """
    if reach is None:
        return []
    settings: dict[str, object] = {"default_tools_approval_mode": "approve"}
    if files.knows_server("navi"):
        settings |= {
            "env.NAVI_URL": reach.address,
            "env_vars": ["NAVI_TOKEN", "NAVI_SESSION_ID"],
        }
    else:
        settings |= {
            "url": f"{reach.address}/mcp",
            "bearer_token_env_var": "NAVI_TOKEN",
            "env_http_headers.Navi-Session": "NAVI_SESSION_ID",
        }
    return [f"--config=mcp_servers.navi.{key}={json.dumps(v)}" for key, v in settings.items()]
