"""The wheel `heynavi`, built and run with uv as people run it without installing it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from navi import __version__
from tests.paths import ROOT

pytestmark = pytest.mark.proof
UV = Path(sys.executable).with_name("uv")


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    if not UV.exists():
        pytest.skip("uv is not installed: `make proof` installs it")
    output = tmp_path / "dist"
    # With the locked hatchling, which is already installed here.
    run("build", "--wheel", "--no-build-isolation", "--python", sys.executable, "-o", str(output))
    [wheel] = output.glob("heynavi-*.whl")
    return wheel


def run(*arguments: str) -> str:
    environment = {**os.environ, **package_index(), "UV_CACHE_DIR": os.environ["HOME"] + "/uv"}
    done = subprocess.run(
        [UV, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def package_index() -> dict[str, str]:
    """The indexes that pip uses on this machine, as uv reads them."""
    pip = [sys.executable, "-m", "pip", "config", "list"]
    listing = subprocess.run(pip, capture_output=True, text=True, check=True).stdout
    values = re.findall(r"^\S*\.(?:extra-)?index-url='(.*)'$", listing, re.MULTILINE)
    if not values:
        return {}
    return {"UV_INDEX": " ".join(values), "UV_INDEX_STRATEGY": "unsafe-best-match"}


def test_the_wheel_runs_without_being_installed(wheel: Path) -> None:
    # The locked versions: a new release of a dependency is not what is tested here.
    source = ["--python", sys.executable, "--from", str(wheel), "--constraints"]
    locked = [*source, "requirements/run.txt"]
    for command in ("heynavi", "navi"):
        assert run("tool", "run", *locked, command, "--version") == f"navi, version {__version__}\n"
    for command in ("recall", "sm"):
        assert __version__ in run("tool", "run", *locked, command, "--version")
    module = run("tool", "run", *locked, "python", "-m", "navi", "--version")
    assert module == f"navi, version {__version__}\n"
    documentation = (
        "from navi.base import documentation as d; print(d.page('quickstart').is_file())"
    )
    assert run("tool", "run", *locked, "python", "-c", documentation) == "True\n"
    removal = run("tool", "run", *locked, "heynavi", "uninstall", "--yes").splitlines()[-1]
    assert removal == "uv cache clean heynavi"
