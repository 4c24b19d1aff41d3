"""`sm automation`: run sessions on a schedule."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from navi.cli.sm.automation_answer import Answer

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

ADD_HELP = """Add an automation: send MESSAGE to SESSION on a schedule.

\b
sm automation add builder --name "error log" --cron "0 9 * * 1-5" --tz Europe/Paris \\
    "Look at app.log; report errors that were not there yesterday."
sm automation add builder --name ping --every 15m "Request http://localhost:8080/health."
sm automation add builder --name release --at "tomorrow at 9" "Read plan.md; begin step 1."

SESSION is a name, an id, or at least the first 4 characters of an id. Give exactly one of --cron,
--every or --at.
"""
EDIT_HELP = """Change an automation. Options you leave out stay as they are.

\b
sm automation edit "error log" --cron "0 8 * * *"
sm automation edit release --at "friday at 9"
sm automation edit ping --name "health check" --disable

ID is a name, an id, or at least the first 4 characters of an id. An automation that has ended runs
again with a new --at, --every or --cron. A new --cron keeps the time zone; --tz changes it, even on
its own.
"""


@click.group("automation", help="Run sessions on a schedule.")
def command() -> None:
    pass


Command = TypeVar("Command", bound=Callable[..., Any])


def _require_count(_: click.Context, option: click.Parameter, count: int | None) -> int | None:
    from navi.live.model.scheduling.limits import require_count

    return None if count is None else require_count(option.opts[0], count)


def options(*, shows_defaults: bool) -> Callable[[Command], Command]:
    """Add the options shared by `add` and `edit`; only `add` has defaults."""
    zone_default = "  [default: your own]" if shows_defaults else ""
    catch_up_default = " (the default)" if shows_defaults else ""
    shared = (
        click.option("--cron", metavar="EXPR", help="Five fields: minute hour day month weekday."),
        click.option("--tz", metavar="ZONE", help=f"Time zone, like Europe/Paris.{zone_default}"),
        click.option(
            "--every",
            metavar="DURATION",
            help="Repeat at this interval: 15m, 2h, 1d. At least 10s.",
        ),
        click.option(
            "--at", metavar="WHEN", help="Run once: 30m, tomorrow at 9, 2030-01-31T09:00+01:00."
        ),
        click.option(
            "--catch-up",
            type=click.Choice(["once", "skip", "all"]),
            help="For runs missed while no server was running: "
            f"run once{catch_up_default}, skip them, or run all.",
        ),
        click.option(
            "--max-runs", type=int, callback=_require_count, help="End after this many runs."
        ),
        click.option("--expires", metavar="WHEN", help="End at this time."),
        click.option(
            "--max-failures",
            type=int,
            callback=_require_count,
            help="Switch off after this many failures in a row.",
        ),
        click.option("--time-limit", metavar="DURATION", help="How long one run may take."),
    )

    def decorate(command: Command) -> Command:
        for option in reversed(shared):
            command = option(command)
        return command

    return decorate


@command.command("add", help=ADD_HELP)
@click.argument("session")
@click.argument("message")
@click.option("--name", metavar="TEXT", help="Short name.  [default: the start of the message]")
@options(shows_defaults=True)
@click.option("--preview", is_flag=True, help="Show when it would run, without adding it.")
@as_json_option
def add(
    session: str,
    message: str,
    name: str | None,
    tz: str | None,
    preview: bool,
    as_json: bool,
    **chosen: Any,
) -> None:
    from navi.cli.sm.automation_answer import NAME_LENGTH
    from navi.cli.sm.lines import plain
    from navi.live.model.scheduling.automation_request import AutomationRequest
    from navi.live.model.scheduling.schedule_request import ScheduleRequest

    answer = _answer(as_json, tz)
    if preview:
        answer.preview(ScheduleRequest(**_schedule(**chosen)))
        return
    request = AutomationRequest(
        name=name or plain(message, NAME_LENGTH),
        message=message,
        **_schedule(**chosen),
        **_guards(**chosen),
    )
    answer.add(session, request)


@command.command("edit", help=EDIT_HELP)
@click.argument("automation_id", metavar="ID")
@click.option("--name", metavar="TEXT", help="Short name.")
@click.option("--message", metavar="TEXT", help="The message to send each time.")
@options(shows_defaults=False)
@click.option("--enable/--disable", "enabled", default=None, help="Switch it on or off.")
@as_json_option
def edit(
    automation_id: str,
    name: str | None,
    message: str | None,
    enabled: bool | None,
    tz: str | None,
    as_json: bool,
    **chosen: Any,
) -> None:
    from navi.base.errors import UsageError
    from navi.live.model.scheduling.automation_request import AutomationChange

    fields = {
        "name": name,
        "message": message,
        "enabled": enabled,
        "tz": tz,
        **_schedule(**chosen),
        **_guards(**chosen),
    }
    changes = {field: value for field, value in fields.items() if value is not None}
    if not changes:
        raise UsageError(
            "nothing to change",
            hint=f'try `sm automation edit {automation_id} --at "friday at 9"`',
        )
    _answer(as_json, tz).edit(automation_id, AutomationChange(**changes))


def _schedule(cron: str | None, every: str | None, at: str | None, **_: Any) -> dict[str, Any]:
    from navi.live.model.scheduling.recall import parse_interval
    from navi.live.model.scheduling.schedule import SHORTEST_EVERY_SECONDS

    seconds = None if every is None else parse_interval(every, SHORTEST_EVERY_SECONDS)
    return {"at": at, "every_seconds": seconds, "cron_expr": cron}


def _guards(
    catch_up: str | None,
    max_runs: int | None,
    expires: str | None,
    max_failures: int | None,
    time_limit: str | None,
    **_: Any,
) -> dict[str, Any]:
    from navi.live.model.scheduling.automation import CatchUp
    from navi.live.model.scheduling.recall import parse_interval

    return {
        "catch_up": None if catch_up is None else CatchUp(catch_up),
        "max_runs": max_runs,
        "expires_at": expires,
        "max_failures": max_failures,
        "time_limit_seconds": None if time_limit is None else parse_interval(time_limit),
    }


@command.command("list", help="List SESSION's automations, or all of them.")
@click.argument("session", required=False)
@as_json_option
def list_automations(session: str | None, as_json: bool) -> None:
    _answer(as_json).list_automations(session)


@command.command("show", help="Show an automation and its next runs.")
@click.argument("automation_id", metavar="ID")
@as_json_option
def show(automation_id: str, as_json: bool) -> None:
    _answer(as_json).show(automation_id)


@command.command("runs", help="Show an automation's last runs and how they ended.")
@click.argument("automation_id", metavar="ID")
@as_json_option
def runs(automation_id: str, as_json: bool) -> None:
    _answer(as_json).runs(automation_id)


@command.command("pause", help="Pause an automation. A queued run is cancelled.")
@click.argument("automation_id", metavar="ID")
@as_json_option
def pause(automation_id: str, as_json: bool) -> None:
    _answer(as_json).set_enabled(automation_id, enabled=False)


@command.command("resume", help="Resume an automation; its next run is counted from now.")
@click.argument("automation_id", metavar="ID")
@as_json_option
def resume(automation_id: str, as_json: bool) -> None:
    _answer(as_json).set_enabled(automation_id, enabled=True)


@command.command(
    "remove", help="Remove an automation. A queued run is cancelled; past runs are kept."
)
@click.argument("automation_id", metavar="ID")
@as_json_option
def remove(automation_id: str, as_json: bool) -> None:
    _answer(as_json).remove(automation_id)


def _answer(as_json: bool, tz: str | None = None) -> Answer:
    # Imported here so that --help and completions start quickly.
    from navi.base.timezone import parse_timezone
    from navi.cli.sm.automation_answer import Answer
    from navi.cli.sm.timezone import own_timezone
    from navi.client import Client, find_server

    zone = own_timezone() if tz is None else parse_timezone(tz)
    return Answer(Client(find_server()), zone, as_json)
