"""Replaces this process with the agent that resumes a session."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from typing import NoReturn

from navi.base.errors import NaviError
from navi.base.file_modes import person_umask
from navi.memory.index_paths import index_paths


def require_startable(agent_command: Sequence[str], folder: str | None) -> None:
    """Raise an error if the folder is gone or the agent is not installed."""
    if folder is not None and not os.access(folder, os.X_OK):
        reason = "permission denied" if os.path.isdir(folder) else "no such file or directory"
        raise _no_folder(folder, reason)
    if shutil.which(agent_command[0]) is None:
        raise NaviError(
            f"{agent_command[0]} is not installed here", hint=f"put {agent_command[0]} on your PATH"
        )


def become(agent_command: Sequence[str], folder: str | None) -> NoReturn:
    """Run the command in the folder, in place of this process."""
    if folder is not None:
        try:
            os.chdir(folder)
        except OSError as error:
            raise _no_folder(folder, (error.strerror or "").lower()) from error
    require_startable(agent_command, None)
    os.umask(person_umask())
    os.execvp(agent_command[0], list(agent_command))


def note_about_lost_file(id: str) -> str:
    """A note about a session whose file is gone."""
    from navi.memory.keep import kept_files

    if id in kept_files.load(index_paths()).files:
        return f"the session's file is gone, but a copy was kept; first run: recall restore {id}"
    return "the session's file is gone; its agent may be unable to resume it"


def _no_folder(folder: str, reason: str) -> NaviError:
    return NaviError(
        f"can't enter the session's folder {folder}: {reason}",
        hint="recreate the folder, or run the command elsewhere",
    )
