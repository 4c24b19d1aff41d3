"""Codex without a terminal: each turn is one run of `codex exec` on the same thread."""

from __future__ import annotations

import json
from collections.abc import Mapping

from navi.agents.codex_lines import CLIENT, CodexReader
from navi.agents.driver import TurnRequest
from navi.agents.headless import HeadlessDriver, Order, Reader


class CodexDriver(HeadlessDriver):
    client = CLIENT

    def _order(self, request: TurnRequest, environment: Mapping[str, str]) -> Order:
        thread = request.conversation
        arguments = ["exec", *(["resume", thread] if thread is not None else [])]
        # A session's folder need not be a repository.
        arguments += ["--json", "--skip-git-repo-check", *self._arguments]
        if request.session.model:
            arguments.append(f"--model={request.session.model}")
        arguments += [*self._tools(), "-"]
        return Order(arguments, request.prompt)

    def _reader(self, request: TurnRequest) -> Reader:
        return CodexReader(request.spent)

    def _tools(self) -> list[str]:
        """Navi's tools, from this server itself. The values come from Codex's environment."""
        if self._reach is None:
            return []
        settings = {
            "url": f"{self._reach.address}/mcp",
            "bearer_token_env_var": "NAVI_TOKEN",
            "env_http_headers.Navi-Session": "NAVI_SESSION_ID",
            "default_tools_approval_mode": "approve",
        }
        return [f"--config=mcp_servers.navi.{key}={json.dumps(v)}" for key, v in settings.items()]
