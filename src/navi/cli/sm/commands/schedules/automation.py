"""`sm automation`: run sessions on a schedule."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from navi.cli.command_group import SuggestingGroup
from navi.cli.sm.session_completion import complete_session
from navi.cli.sm.session_help import SESSION_HELP
from navi.cli.timezone_options import timezone_option

if TYPE_CHECKING:
    from datetime import tzinfo

    from navi.cli.sm.automation_actions import AutomationActions

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

ADD_HELP = f"""Add an automation: send MESSAGE to SESSION on a schedule.

\b
sm automation add builder --name "error log" --cron "0 9 * * 1-5" --tz Europe/Paris \\
    "Look at app.log; report errors that were not there yesterday."
sm automation add builder --name ping --every 15m "Request http://localhost:8080/health."
sm automation add builder --name release --at "tomorrow at 9" "Read plan.md; begin step 1."

{SESSION_HELP} Give exactly one of --cron, --every or --at.
"""
EDIT_HELP = """Change an automation. Options you leave out stay as they are.

\b
sm automation edit "error log" --cron "0 8 * * *"
sm automation edit release --at "friday at 9"
sm automation edit ping --name "health check" --disable

ID is a name, an id, or at least the first 4 characters of an id. A new --at, --every or --cron also
restarts an automation that has ended. A new --cron keeps the time zone of the
old one unless you also pass --tz. To change only the time zone of a cron schedule, pass --tz alone.
--max-runs, --expires, --time-limit and --budget take `none`, which removes the limit.
"""
NO_LIMIT = "none"
REMOVABLE = {
    "max_runs": "max_runs",
    "expires": "expires_at",
    "time_limit": "time_limit_seconds",
    "budget": "budget",
}
"""Options that take NO_LIMIT, and the fields that they set."""


@click.group("automation", cls=SuggestingGroup, help="Run sessions on a schedule.")
def command() -> None:
    pass


Command = TypeVar("Command", bound=Callable[..., Any])


def _read_count(_: click.Context, option: click.Parameter, text: str | None) -> int | str | None:
    from navi.live.model.scheduling.limits import require_count

    if text is None or (text == NO_LIMIT and option.name in REMOVABLE):
        return text
    if not re.fullmatch("-?[0-9]+", text):
        raise click.BadParameter(f"{text!r} is not a number.", param=option)
    return require_count(option.opts[0], int(text))


def shared_options(*, shows_defaults: bool) -> Callable[[Command], Command]:
    """Add the options that `add` and `edit` share; `shows_defaults` is for `add`."""
    catch_up_default = " (the default)" if shows_defaults else ""
    shared = (
        click.option("--cron", metavar="EXPR", help="Five fields: minute hour day month weekday."),
        timezone_option() if shows_defaults else timezone_option(""),
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
            "--max-runs", metavar="NUMBER", callback=_read_count, help="End after this many runs."
        ),
        click.option("--expires", metavar="WHEN", help="End at this time."),
        click.option(
            "--max-failures",
            metavar="NUMBER",
            callback=_read_count,
            help="End after this many failures in a row.",
        ),
        click.option("--time-limit", metavar="DURATION", help="How long one run may take."),
        click.option(
            "--on-permission",
            type=click.Choice(["ask", "deny", "allow-listed"]),
            metavar="POLICY",
            help="When a run needs permission: `ask` you, `deny`, or `allow-listed`, which allows "
            "harmless calls and those listed in the settings, and denies the rest."
            + ("  [default: the session's policy]" if shows_defaults else ""),
        ),
        click.option(
            "--question-deadline",
            metavar="DURATION",
            help="How long questions of a run wait for you: 30m, 8h; 0 is forever."
            + ("  [default: the session's deadline]" if shows_defaults else ""),
        ),
        click.option(
            "--budget",
            metavar="AMOUNT",
            help="Limit for all its runs together: 2usd, 500k tokens. Add /day for a daily limit.",
        ),
    )

    def decorate(command: Command) -> Command:
        for option in reversed(shared):
            command = option(command)
        return command

    return decorate


@command.command("add", help=ADD_HELP)
@click.argument("session", shell_complete=complete_session)
@click.argument("message")
@click.option("--name", metavar="TEXT", help="Short name.  [default: the start of the message]")
@shared_options(shows_defaults=True)
@click.option("--preview", is_flag=True, help="Show when it would run, without adding it.")
@as_json_option
def add(
    session: str,
    message: str,
    name: str | None,
    zone: tzinfo | None,
    preview: bool,
    as_json: bool,
    **options: Any,
) -> None:
    from navi.cli.sm.automation_actions import NAME_LENGTH
    from navi.cli.sm.lines import plain
    from navi.live.model.scheduling.automation_request import AutomationRequest
    from navi.live.model.scheduling.schedule_request import ScheduleRequest

    automations = _actions(as_json, zone)
    if preview:
        automations.preview(ScheduleRequest(**_schedule(**options)))
        return
    request = AutomationRequest(
        name=name or plain(message, NAME_LENGTH),
        message=message,
        **_schedule(**options),
        **_limits(**options),
    )
    automations.add(session, request)


@command.command("edit", help=EDIT_HELP)
@click.argument("automation_id", metavar="ID")
@click.option("--name", metavar="TEXT", help="Short name.")
@click.option("--message", metavar="TEXT", help="The message to send each time.")
@shared_options(shows_defaults=False)
@click.option("--enable/--disable", "enabled", default=None, help="Resume or pause it.")
@as_json_option
def edit(
    automation_id: str,
    name: str | None,
    message: str | None,
    enabled: bool | None,
    zone: tzinfo | None,
    as_json: bool,
    **options: Any,
) -> None:
    from navi.base.errors import UsageError
    from navi.base.timezone import zone_name
    from navi.live.model.scheduling.automation_request import AutomationChange

    fields = {
        "name": name,
        "message": message,
        "enabled": enabled,
        "tz": None if zone is None else zone_name(zone),
        **_schedule(**options),
        **_limits(**options),
    }
    changes = {field: value for field, value in fields.items() if value is not None}
    changes |= {field: None for option, field in REMOVABLE.items() if options[option] == NO_LIMIT}
    if not changes:
        raise UsageError(
            "nothing to change",
            hint=f'try `sm automation edit {automation_id} --at "friday at 9"`',
        )
    _actions(as_json, zone).edit(automation_id, AutomationChange(**changes))


def _schedule(cron: str | None, every: str | None, at: str | None, **_: Any) -> dict[str, Any]:
    from navi.live.model.scheduling.recall import parse_interval
    from navi.live.model.scheduling.schedule import SHORTEST_EVERY_SECONDS

    seconds = None if every is None else parse_interval(every, SHORTEST_EVERY_SECONDS)
    return {"at": at, "every_seconds": seconds, "cron_expr": cron}


def _limits(
    catch_up: str | None,
    max_runs: int | str | None,
    expires: str | None,
    max_failures: int | None,
    time_limit: str | None,
    on_permission: str | None,
    question_deadline: str | None,
    budget: str | None,
    **_: Any,
) -> dict[str, Any]:
    from navi.cli.sm.words import budget_of, deadline_minutes_of
    from navi.live.model.permission_policy import OnPermission
    from navi.live.model.scheduling.automation import CatchUp
    from navi.live.model.scheduling.recall import parse_interval

    has_time_limit = time_limit is not None and time_limit != NO_LIMIT
    return {
        "catch_up": None if catch_up is None else CatchUp(catch_up),
        "max_runs": None if max_runs == NO_LIMIT else max_runs,
        "expires_at": None if expires == NO_LIMIT else expires,
        "max_failures": max_failures,
        "time_limit_seconds": parse_interval(str(time_limit)) if has_time_limit else None,
        "on_permission": None if on_permission is None else OnPermission(on_permission),
        "question_deadline_minutes": deadline_minutes_of(question_deadline),
        "budget": None if budget is None or budget == NO_LIMIT else budget_of(budget),
    }


@command.command("list", help="List the automations of SESSION or, without it, of all sessions.")
@click.argument("session", required=False, shell_complete=complete_session)
@timezone_option()
@as_json_option
def list_automations(session: str | None, zone: tzinfo | None, as_json: bool) -> None:
    _actions(as_json, zone).list_automations(session)


@command.command("show", help="Show an automation and its next runs.")
@click.argument("automation_id", metavar="ID")
@timezone_option()
@as_json_option
def show(automation_id: str, zone: tzinfo | None, as_json: bool) -> None:
    _actions(as_json, zone).show(automation_id)


@command.command("runs", help="Show an automation's last runs and how they ended.")
@click.argument("automation_id", metavar="ID")
@timezone_option()
@as_json_option
def runs(automation_id: str, zone: tzinfo | None, as_json: bool) -> None:
    _actions(as_json, zone).runs(automation_id)


@command.command("pause", help="Pause an automation. A queued run is cancelled.")
@click.argument("automation_id", metavar="ID")
@as_json_option
def pause(automation_id: str, as_json: bool) -> None:
    _actions(as_json).set_enabled(automation_id, enabled=False)


@command.command(
    "resume", help="Resume an automation. Times that passed while it was paused are skipped."
)
@click.argument("automation_id", metavar="ID")
@as_json_option
def resume(automation_id: str, as_json: bool) -> None:
    _actions(as_json).set_enabled(automation_id, enabled=True)


@command.command(
    "remove", help="Remove an automation. A queued run is cancelled; past runs are kept."
)
@click.argument("automation_id", metavar="ID")
@as_json_option
def remove(automation_id: str, as_json: bool) -> None:
    _actions(as_json).remove(automation_id)


def _actions(as_json: bool, zone: tzinfo | None = None) -> AutomationActions:
    # Imported here so that --help and completions start quickly.
    from navi.cli.sm.automation_actions import AutomationActions
    from navi.cli.sm.timezone import own_timezone
    from navi.client import Client, find_server

    return AutomationActions(Client(find_server()), zone or own_timezone(), as_json)
