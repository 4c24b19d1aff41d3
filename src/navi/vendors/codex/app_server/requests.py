"""The messages that Navi sends to the app-server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from navi import __version__

ASK_FEATURE = "--config=features.default_mode_request_user_input=true"
"""Lets Codex ask multiple-choice questions outside its plan mode, too."""
START, RESUME, SETTINGS, TURN = "start", "resume", "settings", "turn"
"""The ids of the requests with which a turn begins."""
ATTACH, LOADED = "attach", "loaded"
"""The ids of requests to an app-server that a terminal uses as well."""
UNREAD = (
    *("command/exec/outputDelta", "item/commandExecution/outputDelta", "turn/diff/updated"),
    *("item/fileChange/outputDelta", "item/fileChange/patchUpdated", "item/plan/delta"),
    *("item/reasoning/summaryTextDelta", "item/reasoning/textDelta"),
)
"""Long notifications that Navi does not use."""

Json = Mapping[str, Any]


def first_lines(thread: str | None, cwd: Path, model: str | None) -> str:
    """The first messages of a turn that starts a new thread or continues `thread`.

    A continued thread keeps the permissions of its last turn even if the person's settings have
    changed since, unless the request names others. So the settings are read first.
    """
    lines = _greeting()
    if thread is None:
        lines.append(_request(START, "thread/start", cwd=str(cwd), **_model(model)))
    else:
        lines.append(_request(SETTINGS, "config/read", cwd=str(cwd), includeLayers=False))
    return "".join(lines)


def attach_lines(thread: str) -> list[str]:
    """Follows a thread that is open in a terminal. Codex sends its open questions again."""
    # Includes the turns, although that is deprecated: only they show which calls are running.
    return [*_greeting(), _request(ATTACH, "thread/resume", threadId=thread)]


def loaded_threads_lines() -> list[str]:
    """Asks which threads are loaded."""
    return [*_greeting(), _request(LOADED, "thread/loaded/list")]


def resume_line(thread: str, cwd: Path, model: str | None, settings: Json) -> str:
    """Continues a thread under these settings."""
    return _request(
        RESUME,
        "thread/resume",
        threadId=thread,
        cwd=str(cwd),
        excludeTurns=True,
        approvalPolicy=settings.get("approval_policy") or "on-request",
        approvalsReviewer=settings.get("approvals_reviewer") or "user",
        **_rights(settings, cwd),
        **_model(model or settings.get("model")),
    )


def turn_line(thread: str, prompt: str) -> str:
    return _request(TURN, "turn/start", threadId=thread, input=_text(prompt))


def steer_line(request_id: str, thread: str, turn: str, text: str) -> str:
    """Adds a message to the running turn, which the model reads after the current call's output."""
    return _request(
        request_id, "turn/steer", threadId=thread, expectedTurnId=turn, input=_text(text)
    )


def response_line(request_id: object, result: Json) -> str:
    return _line({"id": request_id, "result": result})


def refusal_line(request_id: object) -> str:
    return _line({"id": request_id, "error": {"code": -32601, "message": "Navi can't answer this"}})


def _greeting() -> list[str]:
    client = {"name": "navi", "title": "Navi", "version": __version__}
    capabilities = {"experimentalApi": True, "optOutNotificationMethods": UNREAD}
    return [
        _request("initialize", "initialize", clientInfo=client, capabilities=capabilities),
        _line({"method": "initialized"}),
    ]


def _rights(settings: Json, cwd: Path) -> Json:
    if profile := settings.get("default_permissions"):
        return {"permissions": profile}
    if mode := settings.get("sandbox_mode"):
        return {"sandbox": mode}
    # Codex's default for a new thread.
    return {"sandbox": "workspace-write" if _is_trusted(settings, cwd) else "read-only"}


def _is_trusted(settings: Json, cwd: Path) -> bool:
    """Whether the person trusts the folder, or the repository that it is in."""
    projects = settings.get("projects") or {}
    real = cwd.resolve()
    repository = next((each for each in (real, *real.parents) if _is_repository(each)), real)
    trust = [(projects.get(str(each)) or {}).get("trust_level") for each in (cwd, real, repository)]
    return next((level for level in trust if level), None) == "trusted"


def _is_repository(folder: Path) -> bool:
    # In a worktree, `.git` is a file. Codex's sandbox leaves empty `.git` folders behind.
    git = folder / ".git"
    return git.is_file() or (git / "HEAD").exists()


def _model(model: object) -> Json:
    return {"model": model} if model else {}


def _text(text: str) -> list[Json]:
    return [{"type": "text", "text": text}]


def _request(request_id: str, method: str, **params: Any) -> str:
    return _line({"id": request_id, "method": method, "params": params})


def _line(message: Json) -> str:
    return json.dumps(message) + "\n"
