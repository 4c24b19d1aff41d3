"""The files that `navi service install` writes, and what goes into them."""

from __future__ import annotations

import configparser
import plistlib
import shlex
from datetime import UTC, datetime
from pathlib import Path

import pytest

from navi.base.errors import Conflict, UsageError
from navi.cli.navi.service.definition import MARK, write_definition
from navi.cli.navi.service.environment import (
    environment_file,
    lasting_path,
    missing_variables,
    service_environment,
)
from navi.cli.navi.service.launchd import parse_state as launchd_state
from navi.cli.navi.service.launchd_agent import property_list
from navi.cli.navi.service.start_command import start_command
from navi.cli.navi.service.systemd import parse_state as systemd_state
from navi.cli.navi.service.systemd_unit import unit_text

COMMAND = ["/opt/navi/bin/navi", "serve", "--no-open"]
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin", "NAVI_HOME": "/srv/ada/navi"}
VARIABLES = Path("/srv/ada/.config/navi/service.env")


def unit(**environment: str) -> configparser.SectionProxy:
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment]
    parser.read_string(unit_text(COMMAND, {**ENVIRONMENT, **environment}, VARIABLES, 0o022))
    return parser["Service"]


def test_a_restart_stops_only_the_server_so_that_agents_continue() -> None:
    assert unit()["KillMode"] == "process"


def test_the_server_starts_again_after_a_crash_but_not_with_settings_it_cannot_use() -> None:
    service = unit()
    assert service["Restart"] == "on-failure"
    assert service["RestartPreventExitStatus"] == str(UsageError.exit_code)


def test_the_unit_starts_this_installation_by_its_absolute_path() -> None:
    assert unit()["ExecStart"] == "/opt/navi/bin/navi serve --no-open"


def test_awkward_paths_are_quoted_for_systemd() -> None:
    text = unit_text(
        ["/opt/my apps/100%/navi", "serve", "a$b"],
        {"NAVI_HOME": '/srv/"x"\\y %h'},
        Path("/srv/50% off/service.env"),
        0o022,
    )
    assert 'ExecStart="/opt/my apps/100%%/navi" serve "a$$b"' in text
    assert 'Environment="NAVI_HOME=/srv/\\"x\\"\\\\y %%h"' in text
    assert "EnvironmentFile=-/srv/50%% off/service.env" in text


def test_a_line_break_cannot_add_a_line_to_the_unit() -> None:
    with pytest.raises(UsageError, match="can't hold"):
        unit(NAVI_HOME="/srv/x\nExecStartPre=/bin/false")


def test_the_launchd_agent_is_a_property_list_that_starts_the_server_at_login() -> None:
    text = property_list(COMMAND, ENVIRONMENT, VARIABLES, Path("/srv/ada/navi.log"), 0o022)
    content = plistlib.loads(text.encode())
    assert content["Label"] == "heynavi.navi"
    assert content["ProgramArguments"][-4:] == [str(VARIABLES), *COMMAND]
    assert content["EnvironmentVariables"] == ENVIRONMENT
    assert content["RunAtLoad"] is True
    assert content["KeepAlive"] == {"SuccessfulExit": False}
    assert content["AbandonProcessGroup"] is True
    assert content["StandardErrorPath"] == "/srv/ada/navi.log"
    assert content["Umask"] == 0o022
    assert MARK in text


def test_the_path_keeps_absolute_folders_once_and_in_order() -> None:
    path = "/srv/ada/bin::.:relative:/usr/bin:/srv/ada/bin:/a\nb:/bin"
    assert lasting_path(path) == "/srv/ada/bin:/usr/bin:/bin"


def test_a_folder_that_ends_with_the_login_is_replaced_by_what_it_links_to(tmp_path: Path) -> None:
    link = tmp_path / "multishell" / "bin"
    link.parent.mkdir()
    link.symlink_to("/usr/bin")
    gone = tmp_path / "gone"
    assert lasting_path(f"{link}:{gone}:/bin") == f"{Path('/usr/bin').resolve()}:/bin"


def test_the_service_gets_locations_but_no_keys() -> None:
    environment = {
        "PATH": "/usr/bin",
        "NAVI_HOME": "/srv/ada/navi",
        "CODEX_HOME": "/srv/ada/codex",
        "ANTHROPIC_API_KEY": "secret",
        "NAVI_DATABASE_URL": "postgresql://ada:secret@db.example/navi",
        "EDITOR": "vi",
    }
    assert service_environment(environment) == {
        "PATH": "/usr/bin",
        "NAVI_HOME": "/srv/ada/navi",
        "CODEX_HOME": "/srv/ada/codex",
    }


def test_what_the_service_will_miss_is_named_until_it_is_in_its_file(tmp_path: Path) -> None:
    environment = {
        "NAVI_CONFIG": str(tmp_path / "config.toml"),
        "ANTHROPIC_API_KEY": "x",
        "CLAUDE_CODE_OAUTH_TOKEN": "t",
        "https_proxy": "http://proxy.example",
        "NAVI_MODEL": "m",
        "CODEX_HOME": "/srv/ada/codex",
        "NAVI_SESSION_ID": "s",
        "EDITOR": "vi",
    }
    assert missing_variables(environment) == [
        "ANTHROPIC_API_KEY",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "NAVI_MODEL",
        "https_proxy",
    ]
    environment_file(environment).write_text(
        "# keys\nANTHROPIC_API_KEY=x\nNAVI_MODEL = m\nCLAUDE_CODE_OAUTH_TOKEN=t\n"
    )
    assert missing_variables(environment) == ["https_proxy"]


def test_a_file_that_somebody_else_wrote_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "systemd" / "navi.service"
    assert write_definition(file, f"# {MARK}\none")
    assert not write_definition(file, f"# {MARK}\none")
    assert write_definition(file, f"# {MARK}\ntwo")
    file.write_text("[Service]\n")
    with pytest.raises(Conflict, match="was not written by Navi"):
        write_definition(file, f"# {MARK}\nthree")
    assert file.read_text() == "[Service]\n"


def test_the_installation_of_a_script_is_preferred_to_its_interpreter(tmp_path: Path) -> None:
    script = tmp_path / "bin" / "navi"
    script.parent.mkdir()
    script.touch()
    assert start_command(tmp_path) == [str(script), "serve", "--no-open"]


def test_a_temporary_installation_cannot_become_a_service() -> None:
    with pytest.raises(Conflict, match="temporary environment") as refusal:
        start_command(Path("/srv/ada/.cache/uv/archive-v0/Xy12"))
    assert "uv tool install" in refusal.value.hint


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("ActiveState=active 'ActiveEnterTimestamp=Wed 2026-11-18 16:09:00 UTC'", "running"),
        ("ActiveState=inactive SubState=dead", "stopped"),
        ("ActiveState=activating SubState=start", "starting"),
        (
            "ActiveState=activating SubState=auto-restart ExecMainCode=1 ExecMainStatus=1",
            "starts again after exit code 1",
        ),
        (
            "ActiveState=activating SubState=auto-restart ExecMainCode=2 ExecMainStatus=9",
            "starts again after signal 9",
        ),
        (
            "ActiveState=failed SubState=failed ExecMainStatus=2",
            "failed with exit code 2: its settings or its address can't be used",
        ),
    ],
)
def test_the_state_of_the_unit_is_reported_in_words(text: str, summary: str) -> None:
    properties = dict(part.split("=", 1) for part in shlex.split(text))
    assert systemd_state(properties).summary == summary


def test_the_unit_runs_since_the_time_that_systemd_prints() -> None:
    properties = {
        "ActiveState": "active",
        "ActiveEnterTimestamp": "Wed 2026-11-18 16:09:00 UTC",
    }
    assert systemd_state(properties).since_at == datetime(2026, 11, 18, 16, 9, tzinfo=UTC)


LAUNCHD_JOB = """\
gui/501/heynavi.navi = {
\tactive count = 1
\tpath = /Volumes/ada/Library/LaunchAgents/heynavi.navi.plist
\ttype = LaunchAgent
\tstate = %s

\tprogram = /bin/sh
\tendpoints = {
\t\tstate = active
\t}
\truns = 3
%s
}
"""


@pytest.mark.parametrize(
    ("state", "fields", "summary"),
    [
        ("running", "\tpid = 4194303\n\tlast exit code = (never exited)", "running"),
        ("spawn scheduled", "\tlast exit code = 1", "starts again after exit code 1"),
        (
            "spawn scheduled",
            "\tlast exit code = 2: No such file or directory",
            "starts again after exit code 2: its settings or its address can't be used",
        ),
        ("spawn scheduled", "\tlast exit code = (never exited)", "starting"),
    ],
)
def test_the_state_of_the_launchd_agent_is_reported_in_words(
    state: str, fields: str, summary: str
) -> None:
    assert launchd_state(LAUNCHD_JOB % (state, fields)).summary == summary
