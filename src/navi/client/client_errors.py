"""Errors between a client and the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from navi.base.errors import NaviError


class NoServer(NaviError):
    """No server answers, or the program that answers is not Navi."""

    kind, exit_code, http_status = "no_server", 2, 503


class ServerRefused(NaviError):
    """An error that the server reported."""

    kind: ClassVar[str] = "refused"

    def __init__(self, status: int, error: Mapping[str, Any]) -> None:
        super().__init__(str(error["message"]), hint=str(error.get("hint") or ""))
        self.status = status
        self.server_kind = str(error.get("kind"))
