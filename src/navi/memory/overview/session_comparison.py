"""Compares two sessions: their common items, and those of only one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from navi.base.secrets.masking import mask, masked
from navi.base.timestamps import instant
from navi.memory.overview.session_profile import Profile

LISTS = ("prompts", "commands", "files_changed", "files_read")
"""The fields of `Profile` that are compared item by item."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """Items in their order; those of `both` in the order of the first session."""

    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    both: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    first: Profile
    second: Profile
    prompts: Overlap
    commands: Overlap
    files_changed: Overlap
    files_read: Overlap
    tools: tuple[tuple[str, int, int], ...]
    """Each tool and how often each session used it, the most used first."""


def compare(first: Profile, second: Profile) -> Comparison:
    tools = {*first.tools, *second.tools}
    counts = [(tool, first.tools.get(tool, 0), second.tools.get(tool, 0)) for tool in tools]
    return Comparison(
        first,
        second,
        **{name: overlap(getattr(first, name), getattr(second, name)) for name in LISTS},
        tools=tuple(sorted(counts, key=lambda each: (-each[1] - each[2], each[0]))),
    )


def overlap(first: Sequence[str], second: Sequence[str]) -> Overlap:
    """Texts that differ only in their spaces are the same."""
    firsts, seconds = _by_words(first), _by_words(second)
    return Overlap(
        tuple(text for key, text in firsts.items() if key not in seconds),
        tuple(text for key, text in seconds.items() if key not in firsts),
        tuple(text for key, text in firsts.items() if key in seconds),
    )


def _by_words(texts: Sequence[str]) -> dict[str, str]:
    by_words: dict[str, str] = {}
    for text in texts:
        by_words.setdefault(" ".join(text.split()), text)
    return by_words


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """With secrets masked."""
    return {
        "first": _profile_json(comparison.first),
        "second": _profile_json(comparison.second),
        **{name: _overlap_json(getattr(comparison, name)) for name in LISTS},
        "tools": [
            {"tool_name": tool, "first": first, "second": second}
            for tool, first, second in comparison.tools
        ],
    }


def _profile_json(profile: Profile) -> dict[str, Any]:
    return {
        "id": profile.id,
        "source": profile.source,
        "title": masked(profile.title),
        "project": profile.project,
        "model": profile.model,
        "started_at": instant(profile.started_at),
        "duration_seconds": profile.duration_seconds,
        "message_count": profile.message_count,
        "tool_count": profile.tool_count,
        **profile.tokens,
        "cost_usd": None if profile.cost_usd is None else round(profile.cost_usd, 6),
        "has_unpriced": profile.has_unpriced,
        "outcome": profile.outcome,
        "is_unanswered": profile.is_unanswered,
        "ending": mask(profile.ending),
    }


def _overlap_json(overlap: Overlap) -> dict[str, list[str]]:
    return {
        "only_first": [mask(text) for text in overlap.only_first],
        "only_second": [mask(text) for text in overlap.only_second],
        "both": [mask(text) for text in overlap.both],
    }
