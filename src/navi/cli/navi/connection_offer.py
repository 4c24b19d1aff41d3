"""Offers to connect agents to Navi, once for each agent."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from navi.base import paths
from navi.base.errors import NaviError
from navi.cli import formats, output
from navi.cli.navi.commands.setup import write_all
from navi.cli.navi.installation import is_temporary
from navi.client import lasting_address
from navi.vendors.agent_settings import AgentSettings
from navi.vendors.settings_file import Change

ANSWERS_FILE = "connection-answers.json"
"""In the home folder: whether the person wanted each agent connected, by the agent's name."""

DIFF_ANSWERS = ("d", "diff")

Plans = dict[str, list[Change]]
"""The changes that connect each agent, by its name."""


def offer(agents: Mapping[str, AgentSettings]) -> None:
    """Ask about agents that are not connected, and connect them if the person says yes."""
    plans, answers = _plans(agents), _read_answers()
    new = {name: changes for name, changes in plans.items() if name not in answers}
    if new and sys.stdin.isatty():
        answer = _ask([agents[name].title for name in new], new)
        _write_answers({**answers, **dict.fromkeys(new, answer)})
        if answer:
            _connect(agents, new)
            plans = {name: changes for name, changes in plans.items() if name not in new}
    if plans:
        titles = formats.joined([agents[name].title for name in plans])
        commands = formats.joined([f"`navi setup {name}`" for name in plans])
        output.note(f"not connected to Navi: {titles}; to connect: {commands}")


def connect(agents: Mapping[str, AgentSettings]) -> None:
    """Connect the agents that are not connected, without asking."""
    _connect(agents, _plans(agents))


def _plans(agents: Mapping[str, AgentSettings]) -> Plans:
    """The changes for all agents that are not connected and whose settings can be changed."""
    plans = {}
    for name, agent in agents.items():
        try:
            if not agent.is_installed():
                plans[name] = agent.plan_installation(lasting_address())
        except NaviError as problem:
            output.complain(problem)
    return plans


def _ask(titles: list[str], plans: Plans) -> bool:
    names = formats.joined(titles)
    changes = [change for each in plans.values() for change in each]
    output.note(f"\nTo connect {names}, Navi would add its hooks and tools to these settings:")
    for change in changes:
        added, removed = change.line_counts()
        lines = formats.count(added, "new line") + (f", {removed} replaced" if removed else "")
        output.note(f"  {change.path}: {lines}")
    output.note(
        "Sessions in your own terminals then show up in Navi, get messages and can be woken.\n"
        "`navi setup --remove` undoes it."
    )
    if is_temporary(Path(sys.prefix)):
        output.note(
            "Navi runs from uv's cache, so the connection lasts until uv cleans the cache; to keep "
            "it, first install Navi with `uv tool install heynavi`."
        )
    while (answer := _answer(f"Connect {names}? [y/N, d shows the diff]")) in DIFF_ANSWERS:
        for change in changes:
            output.diff(change.diff(), output.width())
    return answer in ("y", "yes")


def _answer(question: str) -> str:
    text: str = click.prompt(question, default="n", show_default=False, err=True)
    return text.strip().lower()


def _connect(agents: Mapping[str, AgentSettings], plans: Plans) -> None:
    for name, changes in plans.items():
        problems = write_all(changes)
        for problem in problems:
            output.complain(problem)
        if not problems:
            output.note(agents[name].next_step)


def _read_answers() -> dict[str, bool]:
    try:
        answers = json.loads(_answers_file().read_text())
    except (OSError, ValueError):
        return {}
    return answers if isinstance(answers, dict) else {}


def _write_answers(answers: Mapping[str, bool]) -> None:
    _answers_file().write_text(json.dumps(answers))


def _answers_file() -> Path:
    return paths.home() / ANSWERS_FILE
