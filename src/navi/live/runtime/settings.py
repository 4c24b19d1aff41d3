"""The settings. The environment overrides the settings file, which overrides the defaults.

docs/reference/settings.md and docs/reference/config.toml are generated from this file.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, available_timezones

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)

from navi.base import documentation
from navi.base.errors import InvalidInput, UsageError
from navi.base.paths import DEFAULT_HOST, DEFAULT_PORT
from navi.base.system_clock import machine_timezone
from navi.live.agents.builtin.builtin_driver import DEFAULT_INSTRUCTIONS
from navi.live.agents.builtin.models import default_model
from navi.live.model.access.quota import Limits
from navi.live.model.budget import Amount
from navi.live.model.permission_policy import OnPermission
from navi.live.model.scheduling.limits import HIGHEST_COUNT, LONGEST_SECONDS
from navi.live.model.scheduling.reminder import LONGEST_SECONDS as LONGEST_THRESHOLD_SECONDS
from navi.live.model.scheduling.schedule import require_cron
from navi.live.model.usage_limit import RetryPolicy
from navi.live.runtime import server_files
from navi.vendors.registry import vendors
from navi.vendors.vendor import Vendor

SECTIONS_READ_ELSEWHERE = {"fts", "keep", "semantic"}
"""Sections of the settings file that only other parts of Navi read."""
CHANNELS = ("desktop", "webhook", "ntfy", "apprise")
TIME_OF_DAY = r"^([01]\d|2[0-3]):[0-5]\d$"
HTTP_URL = re.compile(r"https?://[^\s/]+(/\S*)?", re.IGNORECASE)


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ServerSettings(Section):
    """The server's address, and who may connect."""

    host: str = Field(DEFAULT_HOST, description="The address to listen on.")
    port: int = Field(
        DEFAULT_PORT,
        ge=0,
        le=65535,
        description="The port; 0 picks a free one. If it is not set and another program uses "
        f"{DEFAULT_PORT}, the server takes the next free one and keeps it.",
    )
    allowed_hosts: list[str] = Field(
        default_factory=list,
        description="Other host names, without port, that clients may use to reach the server, "
        "besides its address and localhost.",
    )
    login_days: int = Field(
        30, ge=1, le=3650, description="Log a browser out after this many days without use."
    )
    max_anonymous_connections: int = Field(
        100,
        ge=1,
        description="How many connections without a valid token may be open at once. One more "
        "closes the oldest of them.",
    )


class TurnSettings(Section):
    """How turns are run."""

    max_concurrent: int = Field(
        32, ge=1, description="How many turns one server process runs at once."
    )
    always_per_user: int = Field(
        4,
        ge=1,
        description="A user with fewer running turns than this may start another, even if other "
        "users' turns fill all slots.",
    )
    lease_seconds: float = Field(
        15.0,
        gt=0.1,
        description="How long an unreachable server keeps its turns before another server may "
        "take over their sessions.",
    )


class RecallSettings(Section):
    """Sessions that wake themselves up."""

    max_concurrent: int = Field(
        3, ge=1, description="How many recall turns one server process runs at once."
    )
    always_per_user: int = Field(
        1,
        ge=1,
        description="A user with fewer running recall turns than this may start another, even if "
        "other users' recalls fill all slots.",
    )
    time_limit_seconds: int | None = Field(
        3600, ge=1, description="How long a recall turn may take."
    )
    keep_finished: int = Field(
        100, ge=1, description="How many finished recalls to keep per session."
    )
    timezone: str | None = Field(
        None,
        description="The IANA time zone, such as `Europe/Paris`, for reading and showing times "
        "that don't name one. Default: the machine's.",
    )

    @field_validator("timezone")
    @classmethod
    def _require_timezone(cls, value: str | None) -> str | None:
        if value is not None and value not in available_timezones():
            raise ValueError("unknown time zone")
        return value


class AutomationSettings(Section):
    """Scheduled turns."""

    keep_runs: int = Field(
        50,
        ge=1,
        le=HIGHEST_COUNT,
        description="How many past runs to keep per automation.",
    )
    max_failures: int = Field(
        5,
        ge=1,
        le=HIGHEST_COUNT,
        description="Switch an automation off after this many failures in a row, unless it has its "
        "own limit.",
    )
    time_limit_seconds: int | None = Field(
        3600,
        ge=1,
        le=LONGEST_SECONDS,
        description="How long a run may take, unless its automation has its own limit.",
    )
    heartbeat: bool = Field(
        False,
        description="Whether the built-in agent regularly checks `HEARTBEAT.md` in its workspace "
        "and does what it asks.",
    )
    heartbeat_minutes: int = Field(
        30, ge=1, le=LONGEST_SECONDS // 60, description="Minutes between two heartbeats."
    )
    dream: bool = Field(
        False,
        description="Whether the built-in agent summarises every night what the day's sessions "
        "learned, in `MEMORY.md` in its workspace. It reads that file in every session.",
    )
    dream_at: str = Field("0 3 * * *", description="When to dream, as a cron expression.")

    @field_validator("dream_at")
    @classmethod
    def _require_cron(cls, value: str) -> str:
        try:
            require_cron(value, "UTC", datetime.now(UTC))
        except InvalidInput as error:
            raise ValueError(error.sentence) from error
        return value


class RemindSettings(Section):
    """Reminding agents to report their status."""

    soft_threshold_seconds: int = Field(
        180,
        gt=0,
        le=LONGEST_THRESHOLD_SECONDS,
        description="How long an agent may be silent before it is asked for its status, unless "
        "`--remind` gives another time.",
    )
    hard_gap_seconds: int = Field(
        120,
        gt=0,
        le=LONGEST_THRESHOLD_SECONDS,
        description="How much later to interrupt an agent that still has not reported.",
    )


class QuestionSettings(Section):
    """Questions that agents ask people."""

    deadline_minutes: int = Field(
        1440,
        ge=0,
        description="How long a question waits for an answer, unless its session or automation "
        "says otherwise. After that, a permission is denied; for any other question, the agent is "
        "told to choose the safest option. 0 waits forever.",
    )

    on_permission: OnPermission = Field(
        OnPermission.ASK,
        description="What happens when an agent needs permission, unless its session or automation "
        "says otherwise. `ask` asks a person, and `deny` denies everything. `allow-listed` allows "
        "calls that only read or run checks, and those in `allow`; it denies the rest.",
    )
    allow: list[str] = Field(
        default_factory=list,
        description="Rules for the calls that `allow-listed` allows besides harmless ones, such as "
        '`["Bash(npm install:*)", "WebFetch"]`. `recall stats bash --suggest` lists safe rules.',
    )

    @property
    def deadline(self) -> timedelta | None:
        return timedelta(minutes=self.deadline_minutes) if self.deadline_minutes else None


class BudgetSettings(Section):
    """How much unattended agents may use before they have to ask."""

    dollars_per_day: float | None = Field(
        None,
        gt=0,
        description="How much all sessions of a user together may use per day, in US dollars, "
        "estimated from the vendors' price lists. Turns whose price is unknown are not counted. "
        "The day begins at midnight in the time zone of [recalls].",
    )
    tokens_per_day: int | None = Field(
        None,
        gt=0,
        description="The same limit in tokens, not counting those read from the vendor's cache.",
    )
    repeated_calls: int = Field(
        10,
        ge=0,
        le=HIGHEST_COUNT,
        description="End the turn and ask you after this many calls in a row with the same input "
        "and the same result. 0 switches this off.",
    )

    @property
    def usual_day(self) -> Amount:
        return Amount(self.tokens_per_day, self.dollars_per_day)


class UsageLimitSettings(Section):
    """What happens when an agent's vendor accepts no more requests for now."""

    margin_seconds: float = Field(
        30,
        ge=0,
        le=LONGEST_SECONDS,
        description="How long to wait after the reset time that the vendor named.",
    )
    spacing_seconds: float = Field(
        5,
        ge=0,
        le=LONGEST_SECONDS,
        description="The time between two sessions that continue after a reset. The first one "
        "gets a head start of twelve times this long, to show whether the limit has really reset.",
    )
    first_pause_seconds: float = Field(
        60,
        gt=0,
        le=LONGEST_SECONDS,
        description="How long to wait before trying again if the vendor names no reset. Each "
        "further pause is twice as long.",
    )
    longest_pause_seconds: float = Field(
        3600, gt=0, le=LONGEST_SECONDS, description="The longest of these pauses."
    )
    max_probes: int = Field(
        12,
        ge=0,
        le=HIGHEST_COUNT,
        description="How often to try again if the vendor names no reset. After that, the turn "
        "fails.",
    )


class NotificationSettings(Section):
    """Notifying people that an agent needs them."""

    desktop: bool = Field(
        False,
        description="Whether to notify on the desktop of the server's own machine, with "
        "`notify-send` or macOS's own command.",
    )
    webhook: str | None = Field(None, description="Send each notification to this URL, as JSON.")
    webhook_token: str | None = Field(
        None, description="Sent to the webhook as `Authorization: Bearer`."
    )
    ntfy: str | None = Field(
        None,
        description="The server and topic of [ntfy](https://ntfy.sh). Anyone who knows the topic "
        "can read your notifications, so choose one that nobody can guess.",
    )
    ntfy_token: str | None = Field(None, description="An access token for ntfy.")
    apprise: list[str] = Field(
        default_factory=list,
        description="URLs of [Apprise](https://github.com/caronc/apprise), for Telegram, Slack, "
        "e-mail and many more. Needs the package: install `heynavi[apprise]`.",
    )
    question: list[str] = Field(
        list(CHANNELS),
        description="The channels that report an agent's question. An empty list means none.",
    )
    failed: list[str] = Field(
        list(CHANNELS), description="The channels that report a session that has failed."
    )
    finished: list[str] = Field(
        list(CHANNELS),
        description="The channels that report a session that has finished unseen.",
    )
    automation_off: list[str] = Field(
        list(CHANNELS),
        description="The channels that report an automation switched off because it kept failing.",
    )
    quiet_from: str | None = Field(
        None,
        pattern=TIME_OF_DAY,
        description="When quiet hours begin, in the time zone of [recalls]. Notifications of these "
        "hours are sent when they end, as one digest.",
    )
    quiet_until: str | None = Field(None, pattern=TIME_OF_DAY, description="When quiet hours end.")
    quiet_except: list[str] = Field(
        default_factory=list,
        description="Notifications that are sent even during quiet hours: `question`, `failed`, "
        "`finished` or `automation_off`.",
    )
    active_minutes: int = Field(
        2,
        ge=0,
        le=1440,
        description="Send nothing for this long after you wrote or answered something on the page, "
        "in `sm` or in a terminal. 0 always sends.",
    )
    quote: bool = Field(
        True,
        description="Whether notifications quote questions, commands, answers and errors, with "
        "secrets masked. Otherwise they only name the session and what happened.",
    )
    public_url: str | None = Field(
        None,
        description="The URL at which your phone or browser reaches this server. Without it, "
        "notifications have no links and no buttons.",
    )
    users: list[str] = Field(
        ["local"], description="The users whose sessions these channels report."
    )
    give_up_hours: int = Field(
        24,
        ge=1,
        le=720,
        description="Stop trying to send a notification that is older than this.",
    )

    @field_validator("webhook", "ntfy", "public_url")
    @classmethod
    def _require_url(cls, value: str | None) -> str | None:
        if value is not None and not HTTP_URL.fullmatch(value):
            raise ValueError("it must begin with http:// or https://")
        return value

    @field_validator("ntfy")
    @classmethod
    def _require_topic(cls, value: str | None) -> str | None:
        if value is not None and not urlsplit(value).path.strip("/"):
            raise ValueError("it needs a topic, such as https://ntfy.sh/your-topic")
        return value

    @field_validator("question", "failed", "finished", "automation_off")
    @classmethod
    def _require_channels(cls, value: list[str]) -> list[str]:
        return _require_among(value, CHANNELS)

    @field_validator("quiet_except")
    @classmethod
    def _require_kinds(cls, value: list[str]) -> list[str]:
        return _require_among(value, ("question", "failed", "finished", "automation_off"))

    @model_validator(mode="after")
    def _require_both_times(self) -> NotificationSettings:
        if (self.quiet_from is None) != (self.quiet_until is None):
            raise ValueError("set both quiet_from and quiet_until, or neither")
        return self


def _require_among(values: list[str], possible: Sequence[str]) -> list[str]:
    unknown = [value for value in values if value not in possible]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not one of {', '.join(possible)}")
    return values


class AgentSettings(Section):
    """The built-in agent."""

    model: str | None = Field(
        None,
        description="`anthropic:NAME`, `openai:NAME` or `scripted`. Default: the provider "
        "whose key is in the environment. Also `NAVI_MODEL`.",
    )
    max_iterations: int = Field(25, ge=1, description="How many model requests one turn may make.")
    history_tokens: int = Field(
        100_000,
        ge=1000,
        description="When a session's history is estimated to exceed this many tokens, the model "
        "gets a summary of its older part. The transcript keeps everything.",
    )
    instructions: str = Field(
        DEFAULT_INSTRUCTIONS,
        description="The system prompt of every request.",
    )
    anthropic_base_url: str | None = Field(
        None, description="Another endpoint for Anthropic's API. Also `ANTHROPIC_BASE_URL`."
    )
    openai_base_url: str | None = Field(
        None,
        description="Another endpoint for OpenAI's API, such as Ollama. Also `OPENAI_BASE_URL`.",
    )


class AgentsSettings(Section):
    """All agents started by Navi."""

    pass_environment: list[str] = Field(
        default_factory=list,
        description="More environment variables of the server that agents and their commands may "
        'see, such as `["AWS_PROFILE", "NPM_*"]`. `docs/how-to/agents.md` lists the ones they '
        "always see.",
    )


class ProgramSettings(Section):
    """Sessions with an agent that is a separate program."""

    command: str = ""
    arguments: list[str] = []


class ToolSettings(Section):
    """What the built-in agent's tools may do."""

    terminal_timeout_seconds: float = Field(
        120.0, gt=0, description="How long a command may run, unless the agent sets a limit."
    )
    terminal_output_characters: int = Field(
        30_000, ge=100, description="How many characters of a command's output the agent sees."
    )
    http_allow_private: bool = Field(
        False, description="Whether `http_request` may reach this machine and private networks."
    )


class LimitSettings(Section):
    """Limits for each user. Only the per-session limits apply to admins."""

    sessions: int = Field(10_000, ge=1, description="Sessions of one user, including ended ones.")
    recalls: int = Field(1_000, ge=1, description="Pending recalls of one user.")
    automations: int = Field(1_000, ge=1, description="Automations of one user.")
    reminders: int = Field(1_000, ge=1, description="Pending one-off reminders of one user.")
    waiting_inputs: int = Field(10_000, ge=1, description="Queued inputs of one user.")
    automations_per_session: int = Field(100, ge=1, description="Automations of one session.")
    waiting_inputs_per_session: int = Field(
        1_000, ge=1, description="Queued inputs of one session."
    )


class IndexSettings(Section):
    """The memory that `recall` searches."""

    follow: bool = Field(
        True,
        description="Whether the server keeps the index up to date with its own sessions and with "
        "other agents' files.",
    )


class Settings(Section):
    server: ServerSettings = ServerSettings()
    turns: TurnSettings = TurnSettings()
    recalls: RecallSettings = RecallSettings()
    automations: AutomationSettings = AutomationSettings()
    remind: RemindSettings = RemindSettings()
    questions: QuestionSettings = QuestionSettings()
    budgets: BudgetSettings = BudgetSettings()
    usage_limits: UsageLimitSettings = UsageLimitSettings()
    notifications: NotificationSettings = NotificationSettings()
    agent: AgentSettings = AgentSettings()
    agents: AgentsSettings = AgentsSettings()
    tools: ToolSettings = ToolSettings()
    limits: LimitSettings = LimitSettings()
    index: IndexSettings = IndexSettings()

    def program(self, vendor: Vendor) -> ProgramSettings:
        section: ProgramSettings | None = getattr(self, vendor.name, None)
        return section or _program_section(vendor)()


@cache
def settings_model() -> type[Settings]:
    """The settings, with a section for each agent that is a separate program."""
    sections = {each.name: _program_section(each) for each in vendors().values() if each.command}
    fields: dict[str, Any] = {name: (section, section()) for name, section in sections.items()}
    return create_model("Settings", __base__=Settings, **fields)


def _program_section(vendor: Vendor) -> type[ProgramSettings]:
    command = Field(vendor.command, description="The program: a name on the PATH, or a path.")
    arguments: Any = Field(
        default_factory=list,
        description="More arguments for every run, such as "
        f"`{json.dumps(vendor.example_arguments)}`. Without any, {vendor.title}'s own settings "
        "decide what it may do.",
    )
    return create_model(
        "ProgramSettings",
        __base__=ProgramSettings,
        __doc__=f"Sessions with {vendor.title}.",
        command=(str, command),
        arguments=(list[str], arguments),
    )


def load(environment: Mapping[str, str] = os.environ) -> Settings:
    path = server_files.settings_file(environment)
    values = _from_file(path, must_exist="NAVI_CONFIG" in environment)
    for name, section in _sections().items():
        overrides = _from_environment(name, section, environment)
        values[name] = {**values.get(name, {}), **overrides}
    if model_name := environment.get("NAVI_MODEL"):
        values["agent"] = {**values["agent"], "model": model_name}
    try:
        return settings_model().model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            message = f"unknown setting {key}"
        else:
            message = f"the setting {key} is invalid: {first['msg'].lower()}"
        raise UsageError(
            message,
            hint=f"correct it in {path} or the environment; "
            f"{documentation.page('reference/settings')} lists all settings",
        ) from error


def model_of(settings: Settings, environment: Mapping[str, str] = os.environ) -> str | None:
    """The model for sessions that don't name one; None if no model is set up."""
    return default_model(environment, settings.agent.model)


def limits_of(settings: Settings) -> Limits:
    return Limits(**settings.limits.model_dump())


def retry_policy_of(settings: Settings) -> RetryPolicy:
    """When to try again after a usage limit."""
    limits = settings.usage_limits
    spacing = timedelta(seconds=limits.spacing_seconds)
    return RetryPolicy(
        margin=timedelta(seconds=limits.margin_seconds),
        first_pause=timedelta(seconds=limits.first_pause_seconds),
        longest_pause=timedelta(seconds=limits.longest_pause_seconds),
        max_probes=limits.max_probes,
        lead=12 * spacing,
        spacing=spacing,
    )


def timezone_of(settings: Settings) -> tzinfo:
    """The time zone for times that don't name one."""
    name = settings.recalls.timezone
    return machine_timezone() if name is None else ZoneInfo(name)


def _sections() -> dict[str, type[Section]]:
    return {
        name: field.annotation
        for name, field in settings_model().model_fields.items()
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section)
    }


def _from_file(path: Path, *, must_exist: bool) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text())
    except FileNotFoundError as error:
        if not must_exist:
            return {}
        raise UsageError(
            f"there is no settings file {path}", hint="create it, or unset NAVI_CONFIG"
        ) from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(
            f"can't read {path}: {error}", hint="correct the file or remove it"
        ) from error
    return {name: value for name, value in values.items() if name not in SECTIONS_READ_ELSEWHERE}


def _from_environment(
    section_name: str, section: type[Section], environment: Mapping[str, str]
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, field in section.model_fields.items():
        text = environment.get(f"NAVI_{section_name}_{key}".upper())
        if text is not None:
            is_list = "list" in str(field.annotation)
            values[key] = (
                [each.strip() for each in text.split(",") if each.strip()] if is_list else text
            )
    return values
