"""The server's own token, which belongs to the user `local`."""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import tempfile
from pathlib import Path

from navi.base.errors import StoreUnusable, UsageError
from navi.base.token import SERVER_TOKEN, SESSION_TOKEN

TOKEN_BYTES = 32
SHORTEST_TOKEN = 20
"""In characters; shorter tokens can be guessed."""

log = logging.getLogger("navi.accounts")


def new_token(prefix: str) -> str:
    return prefix + secrets.token_urlsafe(TOKEN_BYTES)


def digest(token: str) -> str:
    """The form in which tokens are stored and compared."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


class ServerToken:
    """The current token. Reads its file again when that has changed (`navi token rotate`)."""

    def __init__(self, value: str, path: Path | None = None) -> None:
        self._path = path
        self._version = _version(path)
        self._value = value
        self._sha256 = digest(value)

    @classmethod
    def find(cls, home: Path) -> ServerToken:
        """The token in `NAVI_TOKEN` or in the home folder, where the first start creates it."""
        token = os.environ.get("NAVI_TOKEN")
        # If an agent starts a server, the variable holds the agent's own token.
        if token and not token.startswith(SESSION_TOKEN):
            return cls(_require_length(token, "NAVI_TOKEN"))
        path = home / "token"
        try:
            return cls(_require_length(_read_or_create(path), str(path)), path)
        except OSError as error:
            raise StoreUnusable(
                f"can't read or write the access token {path}: {error.strerror}",
                hint="give yourself access to the file, or set NAVI_TOKEN",
            ) from error

    @property
    def value(self) -> str:
        self._reload_if_changed()
        return self._value

    @property
    def sha256(self) -> str:
        self._reload_if_changed()
        return self._sha256

    def _reload_if_changed(self) -> None:
        version = _version(self._path)
        if self._path is None or version is None or version == self._version:
            return
        self._version = version
        try:
            token = _require_length(self._path.read_text().strip(), str(self._path))
        except (OSError, ValueError, UsageError) as error:
            log.warning("the old access token stays valid: %s", error)
            return
        self._value, self._sha256 = token, digest(token)


def rotate(home: Path) -> Path:
    """Replace the token atomically. Returns its file."""
    path = home / "token"
    try:
        handle, temporary = tempfile.mkstemp(prefix=".token-", dir=home)  # for the owner only: 0600
        with os.fdopen(handle, "w") as file:
            file.write(new_token(SERVER_TOKEN) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise StoreUnusable(
            f"can't write the access token {path}: {error.strerror}",
            hint="make the folder writable; the old token is still valid",
        ) from error
    return path


def _version(path: Path | None) -> tuple[int, int] | None:
    """A value that changes whenever the file does; None if there is no file."""
    try:
        status = None if path is None else path.stat()
    except OSError:
        return None
    return None if status is None else (status.st_ino, status.st_mtime_ns)


def _require_length(token: str, location: str) -> str:
    if len(token) < SHORTEST_TOKEN:
        raise UsageError(
            f"the access token in {location} has only {len(token)} characters and can be guessed",
            hint=f"use {SHORTEST_TOKEN} or more: `openssl rand -hex 32` makes a good one",
        )
    return token


def _read_or_create(path: Path) -> str:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        token = path.read_text().strip()
        if token:
            return token
        path.unlink()
        return _read_or_create(path)
    token = new_token(SERVER_TOKEN)
    with os.fdopen(handle, "w") as file:
        file.write(token + "\n")
    return token
