"""Questions of agents that the scripted model doesn't ask: shown to one tab, their answers kept."""

from __future__ import annotations

import json
from typing import Any

from playwright.async_api import Route

from tests.acceptance.browser.tab import Tab

CREATED_AT = "2026-11-18T12:00:00.000Z"


def question(session_id: str, name: str, **fields: Any) -> dict[str, Any]:
    """As the server sends it: an open permission to call Bash, unless the fields say otherwise."""
    denied: dict[str, Any] = {
        "decision": "deny",
        "text": "Nobody answered.",
        "choices": [],
        "updated_input": None,
    }
    return {
        "id": name,
        "session_id": session_id,
        "turn_id": None,
        "call_id": f"call-{name}",
        "kind": "permission",
        "title": f"May I call {name}?",
        "detail": "",
        "tool_name": "Bash",
        "tool_input": {"command": "npm test"},
        "risk": "unknown",
        "risk_reason": "runs a script of the project",
        "options": [],
        "allow_free_text": False,
        "allow_several": False,
        "takes_updated_input": False,
        "suggestions": [],
        "outlives_turn": False,
        "state": "open",
        "answer": None,
        "answered_by": None,
        "answered_via": None,
        "deadline_at": None,
        "default": denied,
        "created_at": CREATED_AT,
        "answered_at": None,
        **fields,
    }


async def plant(tab: Tab, *questions: dict[str, Any]) -> list[dict[str, Any]]:
    """Show the questions in this tab, from its next load on. Returns the list of their answers."""
    answers: list[dict[str, Any]] = []
    by_id = {each["id"]: each for each in questions}

    async def listed(route: Route) -> None:
        await route.fulfill(json=[each for each in by_id.values() if each["state"] == "open"])

    async def answered(route: Route) -> None:
        body = json.loads(route.request.post_data or "{}")
        question_id = route.request.url.split("/")[-2]
        answers.append(body)
        answer = {"text": None, "choices": [], "updated_input": None, **body}
        closed = {"state": "answered", "answer": answer, "answered_at": CREATED_AT}
        by_id[question_id] |= {**closed, "answered_by": "local", "answered_via": answer.pop("via")}
        await route.fulfill(json=by_id[question_id])

    await tab.page.route("**/questions?*", listed)
    await tab.page.route("**/questions/*/answer", answered)
    await tab.page.reload()
    return answers


def every_kind(session_id: str) -> list[dict[str, Any]]:
    """One question of each kind, with everything that it can have."""
    rule = {"type": "addRules", "behavior": "allow", "destination": "localSettings"}
    mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    edit = {
        "file_path": "/srv/shop/cart.py",
        "old_string": "def total(cart):\n    return sum(cart)\n",
        "new_string": "def total(cart):\n    return round(sum(cart), 2)\n",
    }
    options = [
        {"label": "SQLite", "description": "one file, no server"},
        {"label": "PostgreSQL", "description": ""},
    ]
    return [
        question(
            session_id,
            "Bash",
            takes_updated_input=True,
            suggestions=[
                {**rule, "rules": [{"toolName": "Bash", "ruleContent": "npm test:*"}]},
                mode,
            ],
            deadline_at="2100-01-01T12:00:00.000Z",
        ),
        question(
            session_id,
            "Edit",
            tool_name="Edit",
            tool_input=edit,
            risk="high",
            risk_reason="writes to files",
        ),
        question(
            session_id,
            "several",
            kind="choice",
            title="Which databases?",
            tool_name=None,
            risk=None,
            options=options,
            allow_several=True,
            allow_free_text=True,
        ),
        question(
            session_id,
            "plan",
            kind="plan",
            title="May I do this?",
            tool_name=None,
            risk=None,
            detail="1. Read **everything**\n2. Change `cart.py`",
        ),
        question(
            session_id,
            "text",
            kind="text",
            title="What is the name of the branch?",
            tool_name=None,
            risk=None,
        ),
    ]
