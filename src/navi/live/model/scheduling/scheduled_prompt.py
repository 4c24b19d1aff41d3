"""The prompt of a scheduled turn, rendered as the turn begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from navi.base.time_expressions import describe_moment
from navi.live.model.input import Input
from navi.live.model.scheduling.automation import Automation, Category
from navi.live.model.scheduling.prompts import Prompt, render
from navi.live.model.scheduling.recall import Scheduler

LATE_SECONDS = 120
"""A shorter delay is not worth mentioning to the agent."""

_SCHEDULERS = {
    Scheduler.AGENT: "You scheduled it yourself, earlier in this session.",
    Scheduler.OTHER_AGENT: "The agent of another session scheduled it for you.",
    Scheduler.PERSON: "The person scheduled it for you.",
}


@dataclass(frozen=True, slots=True)
class ScheduledPrompt:
    prompt: Prompt
    variables: Mapping[str, Any]


def recall_prompt(due: Input, missed: int, now: datetime, zone: tzinfo) -> ScheduledPrompt:
    variables = {
        **_times(due, missed, now, zone),
        "scheduler": _SCHEDULERS[Scheduler(due.metadata.get("scheduled_by", "agent"))],
        "instruction": due.text,
    }
    return ScheduledPrompt(render("recall.wake", 2, variables), variables)


def automation_prompt(
    automation: Automation, due: Input, missed: int, now: datetime, zone: tzinfo
) -> ScheduledPrompt:
    is_bound = automation.category is Category.BOUND
    variables = {
        **_times(due, missed, now, zone),
        "name": automation.name,
        "message": due.text.partition("\n\n")[2],
    }
    template = "cron.agent_turn.reminder" if is_bound else "cron.agent_turn.unbound"
    return ScheduledPrompt(render(template, 1, variables), variables)


def _times(due: Input, missed: int, now: datetime, zone: tzinfo) -> dict[str, str]:
    due_at = datetime.fromisoformat(due.metadata["due_at"])
    return {
        "due_at": describe_moment(due_at, zone),
        "now": describe_moment(now, zone),
        "lateness": _lateness(due_at, now, missed),
    }


def _lateness(due_at: datetime, now: datetime, missed: int) -> str:
    late = (now - due_at).total_seconds()
    words = f" ({int(late // 60)} minutes late)" if late >= LATE_SECONDS else ""
    if missed:
        words += f"\nEarlier occurrences that were missed: {missed}"
    return words
