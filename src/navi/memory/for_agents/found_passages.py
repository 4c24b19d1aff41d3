"""Search results for an agent, grouped by session, best match first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from navi.memory.for_agents.quotation import NOTICE, origin, quoted
from navi.memory.for_agents.token_budget import TokenBudget

if TYPE_CHECKING:
    from navi.memory.read.search import Hit

DESCRIPTIONS = {
    "content": "what the {who} said",
    "thinking": "what the {who} thought",
    "bash": "a command run with {tool}",
    "file": "a file touched with {tool}",
    "output": "what {tool} printed",
}
"""Where a match is, by the kind of text."""
SOME_WORDS_HEADING = "\nOther sessions, with only some of these words:"
NEAREST_HEADING = "\nOther sessions, nearest in meaning or with only some of these words:"
CLOSING_TOKENS = 60
"""Reserved for the last lines, which report what did not fit."""


def found_passages(
    hits: Sequence[Hit], remarks: Sequence[str], budget: int, *, goes_by_meaning: bool = False
) -> str:
    """As many of the hits as fit. `remarks` come first."""
    room = TokenBudget(budget - CLOSING_TOKENS)
    lines = [NOTICE, *remarks]
    for line in lines:
        room.take(line)
    groups: list[tuple[str, list[str]]] = []
    group_numbers: dict[str, int] = {}
    count = 0
    had_all_words = False
    for hit in hits:
        passage = _passage(hit)
        heading = ""
        if hit.session_id not in group_numbers:
            heading = f"\n{origin(hit._asdict(), hit.timestamp)}"
        if had_all_words and not hit.has_all_words:
            others = NEAREST_HEADING if goes_by_meaning else SOME_WORDS_HEADING
            heading = f"{others}\n{heading}"
        had_all_words = hit.has_all_words
        if not room.take(f"{heading}\n{passage}"):
            break
        if heading:
            group_numbers[hit.session_id] = len(groups)
            groups.append((heading, []))
        groups[group_numbers[hit.session_id]][1].append(passage)
        count += 1
    for heading, passages in groups:
        lines += [heading, *passages]
    lines.append("\nread_session(id, around=N) shows what was said around message N.")
    if count < len(hits):
        more = len(hits) - count
        lines.append(f"{more} more found, but the budget of {budget:,} tokens is used up.")
    return "\n".join(lines)


def _passage(hit: Hit) -> str:
    """The matching words, where they are, and the snippet, which is masked already."""
    words = {hit.snippet.text[start:end].lower(): None for start, end in hit.snippet.highlights}
    matches = ", ".join(f'"{word}"' for word in list(words)[:5]) or "matches"
    who, tool = hit.role or "agent", hit.tool_name or "a tool"
    description = DESCRIPTIONS.get(hit.kind, "{who}").format(who=who, tool=tool)
    at = "" if hit.idx is None else f", message {hit.idx}"
    return f"{matches} in {description}{at}:\n{quoted(hit.snippet.text)}"
