"""How Navi itself was installed, and the commands that upgrade and remove it."""

from __future__ import annotations

import json
import shlex
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

DISTRIBUTIONS = ("heynavi", "navi")
"""Navi's name in package indexes, and its earlier one."""


def upgrade_command(prefix: Path, source: Path | None, python: Path = Path(sys.executable)) -> str:
    """The command that upgrades the Navi in `prefix`; `source` is the folder it came from."""
    if source is None:
        return _package_upgrade(prefix, python)
    folder = shlex.quote(str(source))
    if prefix.is_relative_to(source):
        install = f"make -C {folder} install"
    elif (prefix / "pipx_metadata.json").exists():
        install = f"pipx install --force {folder}"
    elif (prefix / "uv-receipt.toml").exists():
        install = f"uv tool install --reinstall {folder}"
    else:
        install = _pip_upgrade(python, str(source))
    is_checkout = (source / ".git").exists()
    return f"git -C {folder} pull --ff-only && {install}" if is_checkout else install


def _package_upgrade(prefix: Path, python: Path) -> str:
    if (prefix / "pipx_metadata.json").exists():
        return shlex.join(["pipx", "upgrade", prefix.name])
    if (prefix / "uv-receipt.toml").exists():
        return shlex.join(["uv", "tool", "upgrade", prefix.name])
    if is_temporary(prefix):
        return shlex.join(["uvx", f"{DISTRIBUTIONS[0]}@latest"])
    return _pip_upgrade(python, DISTRIBUTIONS[0])


def _pip_upgrade(python: Path, package: str) -> str:
    if find_spec("pip") is None:
        return shlex.join(["uv", "pip", "install", "--python", str(python), "--upgrade", package])
    return shlex.join([str(python), "-m", "pip", "install", "--upgrade", package])


def removal_command(prefix: Path, python: Path = Path(sys.executable)) -> str:
    """The command that removes Navi from `prefix`, the environment it is installed in."""
    if (prefix / "pipx_metadata.json").exists():
        return shlex.join(["pipx", "uninstall", prefix.name])
    if (prefix / "uv-receipt.toml").exists():
        return shlex.join(["uv", "tool", "uninstall", prefix.name])
    if is_temporary(prefix):
        return shlex.join(["uv", "cache", "clean", DISTRIBUTIONS[0]])
    checkout = _checkout()
    if checkout is not None and prefix.is_relative_to(checkout):
        return shlex.join(["rm", "-rf", str(prefix)])
    installed = _distribution()
    name = DISTRIBUTIONS[0] if installed is None else installed.name
    if find_spec("pip") is None:
        return shlex.join(["uv", "pip", "uninstall", "--python", str(python), name])
    return shlex.join([str(python), "-m", "pip", "uninstall", name])


def is_temporary(prefix: Path) -> bool:
    """Whether `uvx` runs Navi from uv's cache, which may be cleaned at any time."""
    return prefix.parent.name.startswith("archive-v")


def _distribution() -> Distribution | None:
    for name in DISTRIBUTIONS:
        try:
            return distribution(name)
        except PackageNotFoundError:
            continue
    return None


def source_folder() -> Path | None:
    """The folder that Navi was installed from; None if it came as a package."""
    origin = _origin()
    return Path(unquote(urlsplit(origin["url"]).path)) if "dir_info" in origin else None


def _checkout() -> Path | None:
    """The source folder that Navi runs from; None if it was installed as a copy."""
    is_editable = _origin().get("dir_info", {}).get("editable")
    return source_folder() if is_editable else None


def _origin() -> dict[str, Any]:
    installed = _distribution()
    return {} if installed is None else json.loads(installed.read_text("direct_url.json") or "{}")
