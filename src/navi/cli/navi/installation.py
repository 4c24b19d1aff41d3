"""How Navi itself was installed, and the command that removes it."""

from __future__ import annotations

import json
import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit


def removal_command(prefix: Path, python: Path = Path(sys.executable)) -> str:
    """The command that removes Navi from `prefix`, the environment it is installed in."""
    if (prefix / "pipx_metadata.json").exists():
        return shlex.join(["pipx", "uninstall", prefix.name])
    if (prefix / "uv-receipt.toml").exists():
        return shlex.join(["uv", "tool", "uninstall", prefix.name])
    checkout = _checkout()
    if checkout is not None and prefix.is_relative_to(checkout):
        return shlex.join(["rm", "-rf", str(prefix)])
    if find_spec("pip") is None:
        return shlex.join(["uv", "pip", "uninstall", "--python", str(python), "navi"])
    return shlex.join([str(python), "-m", "pip", "uninstall", "navi"])


def _checkout() -> Path | None:
    """The source folder that Navi runs from; None if it was installed as a copy."""
    try:
        origin = json.loads(distribution("navi").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return None
    if not origin.get("dir_info", {}).get("editable"):
        return None
    return Path(unquote(urlsplit(origin["url"]).path))
