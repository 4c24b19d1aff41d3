"""The settings, read from the environment, then the settings file, then defaults.

docs/reference/settings.md and config.toml are generated from this file.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model, field_validator

from navi.base.errors import InvalidInput, UsageError
from navi.base.paths import DEFAULT_HOST, DEFAULT_PORT
from navi.base.system_clock import machine_timezone
from navi.live.agents.builtin.builtin_driver import DEFAULT_INSTRUCTIONS
from navi.live.agents.builtin.models import default_model
from navi.live.model.access.quota import Limits
from navi.live.model.scheduling.limits import HIGHEST_COUNT, LONGEST_SECONDS
from navi.live.model.scheduling.reminder import LONGEST_SECONDS as LONGEST_THRESHOLD_SECONDS
from navi.live.model.scheduling.schedule import require_cron
from navi.live.runtime import server_files
from navi.vendors.registry import vendors
from navi.vendors.vendor import Vendor

SECTIONS_READ_ELSEWHERE = {"fts"}
"""Sections of the file that other parts of Navi read."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ServerSettings(Section):
    """The server's address, and who may connect."""

    host: str = Field(DEFAULT_HOST, description="The address to listen on.")
    port: int = Field(DEFAULT_PORT, ge=0, le=65535, description="The port; 0 picks a free one.")
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
        "closes the oldest.",
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
        30, ge=1, le=LONGEST_SECONDS // 60, description="Minutes between these checks."
    )
    dream: bool = Field(
        False,
        description="Whether the built-in agent summarises every night what the day's sessions "
        "learned, in `MEMORY.md` in its workspace. It reads that file when a session begins.",
    )
    dream_at: str = Field(
        "0 3 * * *", description="When to write this summary, as a cron expression."
    )

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
        description="How much later to interrupt it if it still has not reported.",
    )


class AgentSettings(Section):
    """The built-in agent."""

    model: str | None = Field(
        None,
        description="`anthropic:NAME`, `openai:NAME` or `scripted`. Default: the provider "
        "whose key is in the environment, otherwise `scripted`. Also `NAVI_MODEL`.",
    )
    max_iterations: int = Field(25, ge=1, description="How many model requests one turn may make.")
    history_tokens: int = Field(
        100_000,
        ge=1000,
        description="When a session's estimated history exceeds this, the model gets a summary of "
        "the older part. The transcript keeps everything.",
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
    """How much one user may have. Only the per-session limits apply to admins."""

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
        "decide what it may do; there is nobody to ask.",
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
    for section, model in _sections().items():
        overrides = _from_environment(section, model, environment)
        values[section] = {**values.get(section, {}), **overrides}
    if model_name := environment.get("NAVI_MODEL"):
        values["agent"] = {**values["agent"], "model": model_name}
    try:
        return settings_model().model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            what = f"unknown setting {key}"
        else:
            what = f"the setting {key} is invalid: {first['msg'].lower()}"
        raise UsageError(
            what,
            hint=f"correct it in {path} or the environment; docs/reference/settings.md lists all",
        ) from error


def model_of(settings: Settings, environment: Mapping[str, str] = os.environ) -> str:
    """The model for sessions that don't name one."""
    return default_model(environment, settings.agent.model)


def limits_of(settings: Settings) -> Limits:
    return Limits(**settings.limits.model_dump())


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
    section: str, model: type[Section], environment: Mapping[str, str]
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, field in model.model_fields.items():
        text = environment.get(f"NAVI_{section}_{key}".upper())
        if text is not None:
            is_list = "list" in str(field.annotation)
            values[key] = (
                [each.strip() for each in text.split(",") if each.strip()] if is_list else text
            )
    return values
