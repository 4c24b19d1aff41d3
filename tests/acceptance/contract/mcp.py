"""Call Navi's tools over HTTP."""

from __future__ import annotations

from typing import Any

from tests.server import Client


def request(number: int, method: str, params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


async def ask(client: Client, request_body: Any, session_id: str | None = None) -> Any:
    headers = {} if session_id is None else {"Navi-Session": session_id}
    answer = await client.http.post("/mcp", json=request_body, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()
