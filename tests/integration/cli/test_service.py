"""`navi service` and `navi upgrade`: a real server, started by a stand-in for systemd."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from navi.cli.navi.installation import source_folder, upgrade_command
from navi.cli.navi.service.systemd_unit import unit_text
from tests.integration.cli import systemctl_stand_in
from tests.integration.cli.command_runs import Finished, navi
from tests.server import ServerProcess

pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="launchd runs services there")


class Machine:
    """A person's machine, with a stand-in for systemd."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.unit = home / ".config/systemd/user/navi.service"
        self._commands = home / "bin"
        self._commands.mkdir()
        self._stand_in = shlex.join([sys.executable, str(systemctl_stand_in.__file__)])
        self.add_command("systemctl", f'exec {self._stand_in} "$@"')
        for name in ("journalctl", "loginctl"):
            self.add_command(name, f'echo {name} "$@" >>"$HOME/calls"')
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"http://127.0.0.1:{probe.getsockname()[1]}"
        settings = home / ".config/navi/config.toml"
        settings.parent.mkdir(parents=True)
        port = self.address.rpartition(":")[2]
        settings.write_text(f"[server]\nport = {port}\n[index]\nfollow = false\n")

    def add_command(self, name: str, script: str) -> None:
        (self._commands / name).write_text(f"#!/bin/sh\n{script}\n")
        (self._commands / name).chmod(0o755)

    def navi(self, *arguments: str, **environment: str) -> Finished:
        path = f"{self._commands}{os.pathsep}{os.environ['PATH']}"
        return navi(*arguments, **{"PATH": path, **environment})

    def refuse_to_start(self) -> None:
        """Install everything, but start no server."""
        start = 'case "$*" in *" start "*) echo refused >&2; exit 1;; esac'
        self.add_command("systemctl", f'{start}; exec {self._stand_in} "$@"')

    def write_unit(self) -> None:
        """As installed, but never started."""
        text = self.navi("service", "install", "--dry-run").stdout
        self.unit.parent.mkdir(parents=True)
        self.unit.write_text(text)

    @property
    def calls(self) -> list[str]:
        return (self.home / "calls").read_text().splitlines()

    @property
    def server_pid(self) -> int:
        return int(systemctl_pid(self.home).read_text())


def systemctl_pid(home: Path) -> Path:
    return home / systemctl_stand_in.PID.name


@pytest.fixture
def machine(private_home: Path) -> Iterator[Machine]:
    machine = Machine(private_home)
    yield machine
    if systemctl_pid(private_home).exists():
        with suppress(psutil.NoSuchProcess):
            psutil.Process(machine.server_pid).kill()


def test_the_service_is_installed_restarted_stopped_and_removed_without_a_trace(
    machine: Machine,
) -> None:
    done = machine.navi("service", "install")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"Navi is running: {machine.address}\n")
    assert machine.unit.read_text() in done.stdout
    assert f"wrote {machine.unit}" in done.stderr
    assert "`navi service uninstall` undoes this" in done.stderr
    first = machine.server_pid

    done = machine.navi("service", "status")
    assert done.returncode == 0
    assert "running since" in done.stdout
    assert machine.address in done.stdout
    assert "`navi service restart`" in machine.navi("upgrade").stderr

    assert machine.navi("service", "restart").stdout == f"Navi is running: {machine.address}\n"
    assert machine.server_pid != first

    assert machine.navi("service", "stop").stdout == "stopped\n"
    done = machine.navi("service", "status")
    assert (done.returncode, done.stdout.splitlines()[0].split()) == (1, ["state", "stopped"])
    assert machine.navi("service", "start").returncode == 0

    done = machine.navi("service", "uninstall")
    assert (done.returncode, done.stdout) == (0, f"removed {machine.unit}\n")
    assert [path for path in machine.unit.parent.rglob("*") if path.is_file()] == []
    assert not systemctl_pid(machine.home).exists()


@pytest.mark.proof
def test_installing_again_takes_the_new_environment(machine: Machine) -> None:
    machine.navi("service", "install")
    first = machine.server_pid
    done = machine.navi("service", "install", CODEX_HOME="/srv/ada/codex")
    assert done.returncode == 0
    assert "Environment=CODEX_HOME=/srv/ada/codex" in machine.unit.read_text()
    assert machine.server_pid != first


@pytest.mark.proof
def test_lingering_is_explained_and_enabled_only_on_request(machine: Machine) -> None:
    machine.navi("service", "install", "--no-linger")
    done = machine.navi("service", "install")
    assert "when you log out" in done.stderr
    assert not any(call.startswith("loginctl") for call in machine.calls)
    machine.navi("service", "install", "--linger")
    [call] = [call for call in machine.calls if call.startswith("loginctl")]
    assert call.startswith("loginctl enable-linger ")


def test_a_dry_run_prints_the_unit_and_writes_nothing(machine: Machine) -> None:
    done = machine.navi("service", "install", "--dry-run")
    assert done.returncode == 0
    assert "\nKillMode=process\n" in done.stdout
    assert not machine.unit.parent.exists()


def test_a_server_in_a_terminal_keeps_its_home_to_itself(machine: Machine) -> None:
    with ServerProcess(machine.home) as server:
        settings = machine.home / ".config/navi/config.toml"
        settings.write_text(f"[server]\nport = {server.address.rpartition(':')[2]}\n")
        done = machine.navi("service", "install")
        assert done.returncode == 1
        assert f"a server is already running at {server.address}" in done.stderr
        assert "navi service start" in done.stderr
        assert not systemctl_pid(machine.home).exists()


@pytest.mark.proof
def test_a_server_that_ends_at_once_is_reported_with_the_way_to_its_log(machine: Machine) -> None:
    machine.navi("service", "install")
    machine.navi("service", "stop")
    (machine.home / ".config/navi/config.toml").write_text("[server]\nport = 'x'\n")
    done = machine.navi("service", "start")
    assert done.returncode == 1
    assert "its settings or its address can't be used" in done.stderr
    assert "hint: `navi service logs`" in done.stderr


def test_keys_of_the_shell_are_named_and_not_copied(machine: Machine) -> None:
    machine.refuse_to_start()
    done = machine.navi("service", "install", OPENAI_API_KEY="hunter2")
    [line] = [line for line in done.stderr.splitlines() if line.startswith("your shell has ")]
    assert "OPENAI_API_KEY" in line
    assert str(machine.home / ".config/navi/service.env") in line
    assert "hunter2" not in machine.unit.read_text() + done.stdout + done.stderr


def test_the_log_is_the_journals(machine: Machine) -> None:
    machine.write_unit()
    assert machine.navi("service", "logs", "-f", "-n", "3").returncode == 0
    options, of_systemd = machine.calls[-1].split(" + ")
    user = f"_UID={os.getuid()}"
    server = f"{user} _SYSTEMD_USER_UNIT=navi.service"
    assert options == f"journalctl --quiet --lines 3 --follow {server}"
    assert of_systemd.startswith(f"{user} USER_UNIT=navi.service MESSAGE_ID=")


def test_a_journal_that_only_an_administrator_can_read_is_explained(machine: Machine) -> None:
    machine.write_unit()
    machine.add_command("journalctl", "exit 1")
    done = machine.navi("service", "logs")
    assert done.returncode == 1
    assert f"`sudo journalctl _UID={os.getuid()}" in done.stderr


def test_without_a_unit_every_command_says_how_to_install_it(machine: Machine) -> None:
    for verb in ("uninstall", "start", "stop", "restart", "status", "logs"):
        done = machine.navi("service", verb)
        assert done.returncode == 1
        assert done.stderr.splitlines() == [
            "error: the service is not installed",
            "hint: `navi service install`",
        ]


def test_without_systemd_the_alternatives_are_named_and_nothing_is_written(
    machine: Machine,
) -> None:
    machine.add_command("systemctl", "echo 'Failed to connect to bus' >&2; exit 1")
    done = machine.navi("service", "install")
    assert done.returncode == 1
    assert "error: systemd runs no services for this login: Failed to connect" in done.stderr
    assert "tmux new -d -s navi 'navi serve --no-open'" in done.stderr
    assert not machine.unit.exists()


def test_a_unit_that_systemd_does_not_read_is_not_enabled(machine: Machine) -> None:
    done = machine.navi("service", "install", XDG_CONFIG_HOME=str(machine.home / "elsewhere"))
    assert done.returncode == 1
    assert "systemd does not read" in done.stderr
    assert not any("enable" in call for call in machine.calls)


@pytest.mark.proof
def test_uninstalling_navi_removes_its_service(machine: Machine) -> None:
    machine.navi("service", "install")
    done = machine.navi("uninstall", "--yes", "--data")
    assert done.returncode == 0, done.stderr
    assert f"removed {machine.unit}" in done.stdout
    assert not machine.unit.exists()
    assert not (machine.home / "navi").exists()


def test_an_upgrade_without_a_service_ends_with_a_start(machine: Machine) -> None:
    done = machine.navi("upgrade")
    assert done.stdout == f"{upgrade_command(Path(sys.prefix), source_folder())}\n"
    assert "`navi serve`" in done.stderr


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze")
    file = tmp_path / "navi.service"
    environment = {"PATH": "/usr/bin:/bin", "NAVI_HOME": '/srv/a "b" 100% $c \\d'}
    file.write_text(unit_text(["/bin/true", "serve"], environment, Path("/srv/x.env"), 0o022))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", str(file)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
