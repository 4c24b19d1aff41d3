"""Real agents keep working after Navi, which their hooks and tools call, is gone."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import pytest

import navi
from tests.acceptance.clients.conftest import DRIVERS, World
from tests.paths import ROOT

ORDERS = {
    "claude_code": ["claude", "-p", "--allowedTools=Bash"],
    "codex": [
        *("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
        "--dangerously-bypass-approvals-and-sandbox",
    ],
}
# The command's result exceeds a pipe's buffer, and a missing hook does not read it.
PROMPT = "[[bash: seq 1 20000]] [[say: done]]"
SETTINGS = {
    "claude_code": (".claude/settings.json", ".claude.json"),
    "codex": (".codex/hooks.json", ".codex/config.toml"),
}

pytestmark = pytest.mark.parametrize("driver", DRIVERS)


def copy_checkout(folder: Path) -> Path:
    """The Python of a checkout as `make install` leaves it."""
    shutil.copytree(
        Path(navi.__file__).parent,
        folder / "src/navi",
        ignore=shutil.ignore_patterns("__pycache__", "web"),
    )
    return make_environment(folder / ".venv", folder / "src")


def make_environment(folder: Path, *paths: Path) -> Path:
    """The Python of an environment with Navi's dependencies, but without Navi."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    [packages] = folder.glob("lib/python*/site-packages")
    needed = [*paths, sysconfig.get_path("purelib")]
    (packages / "needed.pth").write_text("".join(f"{path}\n" for path in needed))
    return folder / "bin/python"


def install_wheel(folder: Path, python: Path) -> None:
    wheels = folder / "wheels"
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [wheel] = wheels.iterdir()
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    install = [*pip, "install", "--quiet", "--no-deps", "--no-index", "--no-compile", str(wheel)]
    subprocess.run(install, check=True)


def set_up(world: World, driver: str, python: Path) -> None:
    command = [str(python), "-m", "navi.cli.navi.main"]
    world.set_up(driver, command=command)
    hooks, servers = (world.home / name for name in SETTINGS[driver])
    assert str(python.parents[2]) in hooks.read_text()
    assert str(python) in servers.read_text()


def work(world: World, driver: str) -> None:
    """A turn with a tool works as it would without Navi, and the model sees no failure."""
    earlier = len(world.models.requests)
    done = run([*ORDERS[driver], PROMPT], world)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"
    if driver == "claude_code":
        assert done.stderr == ""
    endings = set(re.findall(r"^hook: \w+ (\w+)$", done.stderr, re.MULTILINE))
    assert endings <= {"Completed"}
    assert "mcp" not in done.stderr.lower()
    requests = world.models.requests[earlier:]
    assert len(requests) >= 2
    assert not any("failed to connect" in request for request in requests)


def run(order: Sequence[str], world: World) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        order,
        # Codex shows in its terminal what it logs as a warning here.
        env={**world.environment, "HOME": str(world.home), "RUST_LOG": "warn"},
        cwd=world.work,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.proof
def test_an_agent_works_after_the_checkout_was_deleted(
    world: World, tmp_path: Path, driver: str
) -> None:
    world.serve()
    checkout = tmp_path / "a check-out"
    set_up(world, driver, copy_checkout(checkout))
    work(world, driver)

    shutil.rmtree(checkout)
    work(world, driver)

    world.set_up(driver, "--remove")  # by the Navi that came after it
    work(world, driver)
    for name in SETTINGS[driver]:
        path = world.home / name
        assert not path.exists() or "/bin/sh" not in path.read_text()


@pytest.mark.proof
def test_an_agent_works_after_navis_environment_was_removed(
    world: World, tmp_path: Path, driver: str
) -> None:
    """As `pipx uninstall` and `uv tool uninstall` do, after `pip uninstall` left the Python."""
    world.serve()
    environment = tmp_path / "pipx/venvs/navi"
    python = make_environment(environment)
    install_wheel(tmp_path, python)
    set_up(world, driver, python)
    work(world, driver)

    [package] = environment.glob("lib/python*/site-packages/navi")
    shutil.rmtree(package)
    work(world, driver)
    shutil.rmtree(environment)
    work(world, driver)


def test_an_agent_works_while_no_server_runs(world: World, driver: str) -> None:
    world.serve()
    world.set_up(driver)
    world.server.kill()
    work(world, driver)


@pytest.mark.proof
def test_an_agent_works_after_navis_home_was_deleted(world: World, driver: str) -> None:
    server = world.serve()
    world.set_up(driver)
    shutil.rmtree(world.home / "navi")
    work(world, driver)
    server.kill()
    work(world, driver)
    assert not (world.home / "navi").exists()
