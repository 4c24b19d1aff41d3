"""What `sm automation` does, and what it prints."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from navi.base.errors import InvalidInput, NotFound
from navi.base.timezone import zone_name
from navi.cli import output
from navi.cli.sm import lines, target
from navi.cli.table import Column
from navi.client import Client
from navi.live.model.scheduling.schedule_request import ScheduleRequest
from navi.live.model.session_reference import matching

if TYPE_CHECKING:
    from navi.live.model.scheduling.automation_request import AutomationChange, AutomationRequest
    from navi.live.model.wire_format import AutomationJson, RunJson

PREVIEW_COUNT = 5
ERROR_NAME = re.compile(r"^[\w.]+: ")
"""Matches the exception's name in the last line of a traceback."""
NAME_LENGTH = 40
LIST_COLUMNS = (
    Column("ID", rank=1, style="dim"),
    Column("NAME", needed_width=12),
    Column("SESSION", needed_width=10, rank=2),
    Column("SCHEDULE", needed_width=16),
    Column("NEXT", needed_width=12),
    Column("LAST", needed_width=8, rank=3),
)
RUN_COLUMNS = (
    Column("DUE"),
    Column("STATE"),
    Column("OUTCOME", rank=1),
    Column("TOOK", rank=3),
    Column("MISSED", rank=4),
    Column("ERROR", needed_width=16, rank=2),
    Column("RUN", rank=5, style="dim"),
)


@dataclass(frozen=True, slots=True)
class AutomationActions:
    """Times are read and printed in `zone`."""

    client: Client
    zone: tzinfo
    as_json: bool

    def add(self, session: str, request: AutomationRequest) -> None:
        session_id = target.find(self.client, session)["id"]
        automation = self.client.add_automation(session_id, replace(request, tz=self._tz))
        if self._say_if_json(automation):
            return
        output.say(f"added {self._name_and_id(automation)}: {automation['schedule_words']}")
        output.say(f"  {self._next_run(automation)}")

    def edit(self, text: str, change: AutomationChange) -> None:
        automation = self._find(text)
        changed = self.client.change_automation(
            automation["id"], self._with_zone(change, automation), tz=self._tz
        )
        if self._say_if_json(changed):
            return
        output.say(f"changed {self._name_and_id(changed)}: {changed['schedule_words']}")
        output.say(f"  {self._next_run(changed)}")

    def preview(self, request: ScheduleRequest) -> None:
        preview = self.client.preview_automation(replace(request, tz=self._tz))
        if self._say_if_json(preview):
            return
        output.say(preview["schedule_words"])
        self._say_times(preview["next"])

    def list_automations(self, session: str | None) -> None:
        owner = None if session is None else target.find(self.client, session)
        automations = self.client.automations(None if owner is None else owner["id"], tz=self._tz)
        if self._say_if_json(automations):
            return
        if not automations:
            output.note("no automations; `sm automation add --help` shows how to add one")
            return
        titles = {each["id"]: each["title"] for each in self.client.sessions(archived=True)}
        rows = [self._row(each, titles) for each in automations]
        output.table(LIST_COLUMNS, rows)

    def show(self, text: str) -> None:
        automation = self._find(text)
        if self._say_if_json(automation):
            return
        output.say(f"{self._name_and_id(automation)}: {automation['schedule_words']}")
        output.say(f"  session: {automation['session_key'] or automation['category']}")
        output.say(f"  message: {lines.plain(automation['message'])}")
        output.say(f"  {self._next_run(automation)}")
        if automation["next_run_at"] is not None:
            self._say_following(automation)
        output.say(f"  last: {_last_run(automation)}")
        counts = f"{automation['run_count']} runs, {automation['missed_count']} missed"
        output.say(f"  {counts}; catch-up: {automation['catch_up']}")

    def runs(self, text: str) -> None:
        try:
            automation_id = self._find(text)["id"]
        except NotFound:
            # A removed automation is no longer listed, but its runs are kept.
            automation_id = text
        runs = self.client.automation_runs(automation_id)
        if self._say_if_json(runs):
            return
        if not runs:
            output.note("no runs yet")
            return
        rows = [self._run_row(run) for run in runs]
        output.table(RUN_COLUMNS, rows)

    def set_enabled(self, text: str, *, enabled: bool) -> None:
        from navi.live.model.scheduling.automation_request import AutomationChange

        change = AutomationChange(enabled=enabled)
        changed = self.client.change_automation(self._find(text)["id"], change, tz=self._tz)
        if self._say_if_json(changed):
            return
        word = "resumed" if enabled else "paused"
        output.say(f"{word} {self._name_and_id(changed)}")
        if enabled:
            output.say(f"  {self._next_run(changed)}")

    def remove(self, text: str) -> None:
        automation = self._find(text)
        self.client.remove_automation(automation["id"])
        if not self._say_if_json({"deleted": True}):
            output.say(f"removed {self._name_and_id(automation)}")

    def _with_zone(self, change: AutomationChange, automation: AutomationJson) -> AutomationChange:
        """Add the zone of new times: the person's, or the old one if cron replaces cron."""
        fields = change.values().keys()
        if "tz" in fields or not fields & {"at", "cron_expr", "expires_at"}:
            return change
        schedule = automation["schedule"]
        keeps_zone = "cron_expr" in fields and schedule["kind"] == "cron"
        return replace(change, tz=schedule["tz"] if keeps_zone else self._tz)

    @property
    def _tz(self) -> str:
        return zone_name(self.zone)

    def _find(self, text: str) -> AutomationJson:
        """Find an automation by its id, the start of its id, or its name."""
        automations = self.client.automations(tz=self._tz)
        matches = matching(automations, text, lambda each: (each["id"], each["name"]))
        if len(matches) == 1:
            return matches[0]
        if not matches:
            raise NotFound(
                f"there is no automation {text!r}", hint="`sm automation list` shows them"
            )
        names = ", ".join(self._name_and_id(each) for each in matches)
        raise InvalidInput(
            f"{text!r} matches {len(matches)} automations: {names}", hint="use the id"
        )

    def _say_if_json(self, value: object) -> bool:
        """Print `value` if JSON is wanted; return whether it was printed."""
        if self.as_json:
            output.say_json(value)
        return self.as_json

    def _name_and_id(self, automation: AutomationJson) -> str:
        return f"{lines.plain(automation['name'], lines.LONGEST)} ({automation['id']})"

    def _next_run(self, automation: AutomationJson) -> str:
        at = automation["next_run_at"]
        if at is not None:
            return f"next {lines.time_from_now(at, self.client.now(), self.zone)}"
        if automation["enabled"]:
            return "next: right after the current run"
        if automation["kind"] in ("heartbeat", "dream"):
            return f"off; the setting [automations] {automation['kind']} switches it on"
        if automation["ended"] is None:
            return "paused"
        return f"ended: {automation['ended'].replace('_', ' ')}"

    def _say_following(self, automation: AutomationJson) -> None:
        schedule = automation["schedule"]
        if schedule["kind"] != "cron":
            return
        request = ScheduleRequest(cron_expr=schedule["cron_expr"], tz=schedule["tz"])
        self._say_times(self.client.preview_automation(request, PREVIEW_COUNT)["next"])

    def _say_times(self, times: Sequence[str]) -> None:
        for at in times:
            output.say(f"  {lines.time_from_now(at, self.client.now(), self.zone)}")

    def _row(self, automation: AutomationJson, titles: Mapping[str, str]) -> list[str]:
        key = automation["session_key"]
        at = automation["next_run_at"]
        return [
            automation["id"],
            lines.plain(automation["name"], NAME_LENGTH),
            automation["category"] if key is None else lines.plain(titles.get(key, key), 30),
            lines.plain(automation["schedule_words"], lines.LONGEST),
            self._next_run(automation) if at is None else lines.time_left(at, self.client.now()),
            _last_run(automation),
        ]

    def _run_row(self, run: RunJson) -> list[str]:
        took = "-"
        if run["started_at"] and run["ended_at"]:
            started, ended = run["started_at"], run["ended_at"]
            duration = datetime.fromisoformat(ended) - datetime.fromisoformat(started)
            took = f"{duration.total_seconds():.1f} s"
        return [
            lines.local_time(run["due_at"], self.zone),
            run["state"],
            run["outcome"] or "-",
            took,
            str(run["missed_count"] or "-"),
            lines.plain(_sentence(run["error"] or "-"), lines.LONGEST),
            run["id"],
        ]


def _sentence(error: str) -> str:
    """The error's message, without the traceback and the exception's name."""
    error_lines = error.strip().splitlines()
    last = error_lines[-1]
    if "Traceback (most recent call last)" not in error:
        return last
    named = (each for each in reversed(error_lines) if ERROR_NAME.match(each))
    return ERROR_NAME.sub("", next(named, last))


def _last_run(automation: AutomationJson) -> str:
    status, error = automation["last_status"], automation["last_error"]
    if status is None:
        return "-"
    return f"{status}: {lines.plain(error, lines.LONGEST)}" if error else status
