"""Each project's prompts, commits, tests, changes, failures and cost: pure decisions.

Secrets are masked here, in whole texts, because a single line of a key can't be recognised.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from navi.base.secrets.masking import mask, masked
from navi.base.timestamps import instant
from navi.memory.overview.changed_paths import decoded_path, path_below
from navi.memory.overview.command_kinds import (
    CommandKind,
    commit_message,
    have_tests_failed,
    kind_of,
)
from navi.memory.overview.digest_rows import DigestRows, Row
from navi.memory.overview.output_lines import error_line, last_line

STILL_WORKING = timedelta(minutes=10)
"""An agent that got a prompt less than this ago may still answer it."""
STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """A session that is not a sub-agent's."""

    session_id: str
    source: str
    title: str | None
    prompts: int
    """How many prompts a person wrote in the time of the digest."""
    last_at: datetime
    is_unanswered: bool
    """Its last message is a prompt that was never answered."""


@dataclass(frozen=True, slots=True)
class Commit:
    session_id: str
    text: str
    """Its message, or else the command, such as `git push`."""
    at: datetime
    has_failed: bool | None


@dataclass(frozen=True, slots=True)
class TestRuns:
    """All runs of one command in a project."""

    __test__ = False  # pytest would collect it otherwise

    command: str
    runs: int
    failures: int
    last_has_failed: bool | None
    """None if its output doesn't say."""
    last_line: str
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Failure:
    """The same failure of calls or turns in one session."""

    session_id: str
    what: str
    """The command, the tool, or `turn`."""
    error: str
    count: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class ProjectDigest:
    project: str | None
    sessions: tuple[SessionEntry, ...]
    """The latest first."""
    sub_agents: int
    messages: int
    commits: tuple[Commit, ...]
    tests: tuple[TestRuns, ...]
    files_changed: tuple[tuple[str, int], ...]
    """Each file and how often it was changed, the most often changed first."""
    failures: tuple[Failure, ...]
    """The latest first. Runs of tests are not among them."""
    stopped_turns: int
    cost_usd: float | None
    """At list prices; None if no price is known."""
    has_unpriced: bool
    tokens: int


@dataclass(frozen=True, slots=True)
class Digest:
    since: datetime | None
    until: datetime | None
    projects: tuple[ProjectDigest, ...]
    """The one with the most messages first."""


def make_digest(
    rows: DigestRows, since: datetime | None, until: datetime | None, now: datetime
) -> Digest:
    project_of = {session["id"]: session["project"] for session in rows.sessions}
    sessions: dict[str | None, list[Row]] = defaultdict(list)
    for session in rows.sessions:
        sessions[session["project"]].append(session)
    commands, changes, failed_calls, bad_turns = (
        _by_project(each, project_of)
        for each in (rows.commands, rows.changes, rows.failed_calls, rows.bad_turns)
    )
    costs = {row["project"]: row for row in rows.tokens}
    projects = [
        ProjectDigest(
            project=project,
            sessions=tuple(_entry(each, now) for each in group if not each["is_subagent"]),
            sub_agents=sum(each["is_subagent"] for each in group),
            messages=sum(each["messages"] for each in group),
            commits=tuple(_commits(commands[project])),
            tests=tuple(_tests(commands[project])),
            files_changed=tuple(_files_changed(changes[project], project)),
            failures=tuple(_failures(failed_calls[project], bad_turns[project])),
            stopped_turns=sum(row["outcome"] == STOPPED for row in bad_turns[project]),
            **_cost(costs.get(project)),
        )
        for project, group in sessions.items()
    ]
    return Digest(since, until, tuple(sorted(projects, key=lambda each: -each.messages)))


def _by_project(
    rows: Iterable[Row], project_of: Mapping[str, str | None]
) -> defaultdict[str | None, list[Row]]:
    """The rows of these sessions, by their project."""
    groups: defaultdict[str | None, list[Row]] = defaultdict(list)
    for row in rows:
        if row["session_id"] in project_of:
            groups[project_of[row["session_id"]]].append(row)
    return groups


def _files_changed(rows: Iterable[Row], project: str | None) -> list[tuple[str, int]]:
    changes: Counter[str] = Counter()
    for row in rows:
        changes[path_below(decoded_path(row["path"]), project)] += row["changes"]
    return changes.most_common()


def _cost(row: Row | None) -> dict[str, Any]:
    if row is None:
        return {"cost_usd": 0.0, "has_unpriced": False, "tokens": 0}
    return {
        "cost_usd": row["cost_usd"],
        "has_unpriced": bool(row["unpriced_models"]),
        "tokens": row["input_tokens"] + row["output_tokens"],
    }


def _entry(session: Row, now: datetime) -> SessionEntry:
    is_unanswered = session["last_role"] == "user" and now - session["last_at"] > STILL_WORKING
    return SessionEntry(
        session["id"],
        session["source"],
        masked(session["title"]),
        session["prompts"],
        session["last_at"],
        is_unanswered,
    )


def _commits(commands: Iterable[Row]) -> Iterable[Commit]:
    """One for each message. A repeated message is another attempt, and the last one counts."""
    commits: dict[tuple[str, str], Commit] = {}
    for row in commands:
        if kind_of(row["bash_command"]) is CommandKind.COMMIT:
            command = mask(row["bash_command"])
            text = commit_message(command) or " ".join(command.split())
            commits[row["session_id"], text] = Commit(
                row["session_id"], text, row["timestamp"], row["is_error"]
            )
    return sorted(commits.values(), key=lambda each: each.at)


def _tests(commands: Iterable[Row]) -> Iterable[TestRuns]:
    runs: dict[str, list[Row]] = defaultdict(list)
    for row in commands:
        if kind_of(row["bash_command"]) is CommandKind.TEST:
            runs[" ".join(mask(row["bash_command"]).split())].append(row)
    for command, group in runs.items():
        outcomes = [have_tests_failed(each["is_error"], each["excerpt"]) for each in group]
        yield TestRuns(
            command,
            len(group),
            sum(outcome is True for outcome in outcomes),
            outcomes[-1],
            last_line(masked(group[-1]["excerpt"])),
            group[-1]["timestamp"],
        )


def _failures(calls: Iterable[Row], turns: Iterable[Row]) -> Iterable[Failure]:
    failures: dict[tuple[str, str, str], Failure] = {}
    for row, what, error in [
        *(
            (
                row,
                " ".join(mask(row["bash_command"] or row["tool_name"]).split()),
                error_line(masked(row["excerpt"])),
            )
            for row in calls
            if kind_of(row["bash_command"] or "") is not CommandKind.TEST
        ),
        *(
            (row, "turn", " ".join(mask(row["error"] or row["outcome"]).split()))
            for row in turns
            if row["outcome"] != STOPPED
        ),
    ]:
        key = row["session_id"], what, error
        count = failures[key].count if key in failures else 0
        failures[key] = Failure(*key, count + 1, row["timestamp"])
    return sorted(failures.values(), key=lambda each: each.last_at, reverse=True)


def digest_json(digest: Digest) -> dict[str, Any]:
    return {
        "since": instant(digest.since),
        "until": instant(digest.until),
        "projects": [_project_json(each) for each in digest.projects],
    }


def _project_json(project: ProjectDigest) -> dict[str, Any]:
    view = asdict(project)
    for name in ("sessions", "commits", "tests", "failures"):
        view[name] = [
            {
                key: instant(value) if isinstance(value, datetime) else value
                for key, value in each.items()
            }
            for each in view[name]
        ]
    view["files_changed"] = [
        {"path": path, "changes": changes} for path, changes in project.files_changed
    ]
    return view
