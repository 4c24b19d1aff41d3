"""The service's environment variables, from those of the person who installs it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from navi.base import paths
from navi.vendors.registry import vendors

OWN_LOCATIONS = (
    *("NAVI_HOME", "NAVI_CONFIG", "RECALL_DATA_DIR", "RECALL_DB_PATH"),
    *("XDG_DATA_HOME", "XDG_CONFIG_HOME"),
)
"""Variables that say where Navi's files are. They hold no secrets, so the service gets a copy."""
# The server and every agent may need these. They may hold secrets, so they are not copied.
NEEDED_PREFIXES = ("NAVI_", "ANTHROPIC_", "OPENAI_")
NEEDED_SUFFIXES = ("_proxy",)
NEEDED = ("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "SSH_AUTH_SOCK")
# Navi itself sets these, for agents and their commands.
SET_BY_NAVI = ("NAVI_URL", "NAVI_SESSION_ID", "NAVI_TURN_ID", "NAVI_COMMAND_ID")


def service_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables that are written into the service's file."""
    locations = {
        name: str(Path(environment[name]).expanduser().absolute())
        for name in _location_variables()
        if environment.get(name)
    }
    return {"PATH": lasting_path(environment.get("PATH", os.defpath)), **locations}


def _location_variables() -> list[str]:
    agent_homes = [vendor.home_variable for vendor in vendors().values() if vendor.home_variable]
    return [*OWN_LOCATIONS, *agent_homes]


def lasting_path(path: str) -> str:
    """The absolute folders of a PATH, without duplicates and without temporary folders."""
    folders = [_lasting_folder(folder) for folder in path.split(os.pathsep)]
    return os.pathsep.join(dict.fromkeys(folder for folder in folders if folder is not None))


def _lasting_folder(folder: str) -> str | None:
    if not os.path.isabs(folder) or not folder.isprintable():
        return None
    if not _is_temporary(folder):
        return folder
    # Some version managers keep a link to the current version in a temporary folder.
    target = os.path.realpath(folder)
    return None if _is_temporary(target) else target


def _is_temporary(folder: str) -> bool:
    roots = ("/run/user", "/tmp", tempfile.gettempdir())
    return any(Path(folder).is_relative_to(root) for root in roots)


def environment_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Where a person puts keys and other variables for the service."""
    return paths.settings_file(environment).with_name("service.env")


def missing_variables(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The variables that Navi or an agent may need and that this shell has, but not the service."""
    try:
        lines = environment_file(environment).read_text().splitlines()
    except OSError:
        lines = []
    present = {line.partition("=")[0].strip() for line in lines}
    present.update(_location_variables(), SET_BY_NAVI)
    patterns = [
        pattern for vendor in vendors().values() for pattern in vendor.variables(environment)
    ]
    return sorted(
        name
        for name, value in environment.items()
        if value and name not in present and _is_needed(name, patterns)
    )


def _is_needed(name: str, agent_patterns: Sequence[str]) -> bool:
    return (
        name in NEEDED
        or name.startswith(NEEDED_PREFIXES)
        or name.lower().endswith(NEEDED_SUFFIXES)
        or any(fnmatchcase(name, pattern) for pattern in agent_patterns)
    )
