"""The sessions that touched a file, for an agent: the latest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from navi.memory.for_agents.quotation import NOTICE, origin
from navi.memory.for_agents.token_budget import TokenBudget

if TYPE_CHECKING:
    from navi.memory.read.search import Hit

CLOSING_TOKENS = 60


def file_history(hits: Sequence[Hit], limit: int, budget: int) -> str:
    """`hits` are the calls that touched the file, the latest first."""
    by_session: dict[str, list[Hit]] = {}
    for hit in hits:
        by_session.setdefault(hit.session_id, []).append(hit)
    room = TokenBudget(budget - CLOSING_TOKENS)
    lines = [NOTICE]
    room.take(NOTICE)
    count = 0
    for calls in list(by_session.values())[:limit]:
        text = f"\n{origin(calls[0]._asdict(), calls[0].timestamp)}\n{_touches(calls)}"
        if not room.take(text):
            break
        lines.append(text)
        count += 1
    lines.append("\nread_session(id, around=N) shows what was said around message N.")
    if count < len(by_session):
        more = len(by_session) - count
        lines.append(
            f"Earlier sessions that also touched it: {more}. Raise limit or budget to see them."
        )
    return "\n".join(lines)


def _touches(calls: Sequence[Hit]) -> str:
    tools = Counter(call.tool_name or "a tool" for call in calls)
    names = ", ".join(
        name if count == 1 else f"{name} {count} times" for name, count in tools.most_common()
    )
    last = next((call.idx for call in calls if call.idx is not None), None)
    return f"touched with {names}" + ("" if last is None else f"; last in message {last}")
