"""The environment of an agent that Navi starts.

An agent sees only those of the server's variables that are listed in this file, by its vendor, or
in the setting `pass_environment`. Other programs' keys and passwords stay hidden from it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

# Visible to every agent; `*` matches anything.
COMMON_VARIABLES = (
    # who and where
    *("HOME", "USER", "LOGNAME", "SHELL", "PATH", "TMPDIR", "TMP", "TEMP", "TZ", "XDG_*"),
    *("LANG", "LANGUAGE", "LC_*", "HOSTNAME", "WSL_*", "WSLENV"),
    # the terminal
    *("TERM", "TERM_PROGRAM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "CLICOLOR*"),
    *("EDITOR", "VISUAL", "PAGER", "LESS", "TMUX_TMPDIR"),
    # the desktop and its key agents
    *("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS"),
    *("SSH_AUTH_SOCK", "SSH_AGENT_PID", "GNUPGHOME"),
    # the network
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NIX_SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"),
    *("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT"),
    # where tools are installed
    *("LD_LIBRARY_PATH", "MANPATH", "INFOPATH", "PKG_CONFIG_PATH", "HOMEBREW_PREFIX", "NIX_PATH"),
    *("NIX_PROFILES", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYENV_ROOT"),
    *("PYTHONPATH", "NODE_PATH", "NVM_DIR", "NVM_BIN", "VOLTA_HOME", "FNM_DIR", "PNPM_HOME"),
    *("BUN_INSTALL", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR", "RBENV_ROOT", "GEM_HOME"),
    *("GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME", "SDKMAN_DIR"),
    *("ANDROID_HOME", "ANDROID_SDK_ROOT", "DOTNET_ROOT", "DOCKER_HOST", "GIT_AUTHOR_*"),
    *("GIT_COMMITTER_*", "GIT_SSH", "GIT_SSH_COMMAND"),
    # where Navi's files are, for `sm` and `recall`
    *("NAVI_HOME", "NAVI_CONFIG", "RECALL_DATA_DIR", "RECALL_DB_PATH"),
)
TMUX_PREFIX = "TMUX"
TOKEN_VARIABLE = "NAVI_TOKEN"


@dataclass(frozen=True, slots=True)
class ServerAccess:
    """What an agent's tools need to reach this server."""

    address: str
    token_of: Callable[[str], Awaitable[str]]
    """Returns a session's token, given its id."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start an agent's program."""

    command: str
    """A name on the PATH, or a path."""
    arguments: Sequence[str]
    """Added to every command line."""
    environment: Mapping[str, str]
    """The variables that the agent may see."""
    runs: Path
    """The folder that holds all run folders, as SESSION/TURN."""
    access: ServerAccess | None = None


def visible_variables(
    environment: Mapping[str, str],
    more_patterns: Sequence[str] = (),
    nesting_prefixes: Sequence[str] = (),
) -> dict[str, str]:
    """The variables that an agent may see: the common ones, and those that match `more_patterns`.

    An agent that sees a variable with one of `nesting_prefixes` behaves as if another agent had
    started it. Only a pattern that begins with one of these prefixes makes such variables visible.
    """
    patterns = (*COMMON_VARIABLES, *more_patterns)
    prefixes = (TMUX_PREFIX, *nesting_prefixes)
    return {
        name: value for name, value in environment.items() if _is_allowed(name, patterns, prefixes)
    }


async def with_identity(
    environment: Mapping[str, str], session_id: str, access: ServerAccess | None
) -> dict[str, str]:
    """The environment, plus the variables in which `sm`, hooks and MCP servers find the session."""
    identity = {"NAVI_SESSION_ID": session_id}
    if access is not None:
        identity["NAVI_URL"] = access.address
        identity[TOKEN_VARIABLE] = await access.token_of(session_id)
    return {**environment, **identity}


def _is_allowed(name: str, patterns: Sequence[str], nesting_prefixes: tuple[str, ...]) -> bool:
    matching = [pattern for pattern in patterns if fnmatchcase(name, pattern)]
    if name.startswith(nesting_prefixes):
        return any(pattern.startswith(nesting_prefixes) for pattern in matching)
    return bool(matching) and name != TOKEN_VARIABLE
