"""The session's folder: what lies inside it, and opening and replacing files safely."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from navi.domain.errors import InvalidInput, NaviError, NotAllowed, NotFound
from navi.tools.text import one_line

KINDS = {
    stat.S_IFLNK: "a symbolic link that leads in a circle",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def locate(folder: Path, path: str) -> Path:
    """Where `path` really leads, all symbolic links and .. followed. Refused if that is outside of
    the folder; a file that does not exist yet counts as being where it would be made."""
    root = Path(os.path.realpath(folder))
    if not root.is_dir():
        raise NotFound(f"the session's folder {root} does not exist", hint="make it again")
    target = Path(os.path.realpath(root / path))
    if not target.is_relative_to(root):
        raise NotAllowed(
            f"{one_line(path)} is outside of the session's folder",
            hint=f"use a path inside {root}; symbolic links and .. are followed first",
        )
    return target


@contextmanager
def refusals(path: str) -> Iterator[None]:
    """Say what the operating system refused in plain words."""
    shown = one_line(path)
    try:
        yield
    except FileNotFoundError as error:
        raise NotFound(
            f"there is no {shown}", hint="list its folder to see what is there"
        ) from error
    except PermissionError as error:
        raise NotAllowed(f"no permission for {shown}", hint="check its mode and owner") from error
    except IsADirectoryError as error:
        raise InvalidInput(f"{shown} is a folder", hint="the action list shows it") from error
    except (NotADirectoryError, FileExistsError) as error:
        raise InvalidInput(
            f"{shown} is not a folder, or leads through something that is none",
            hint="list the folders on the way",
        ) from error
    except OSError as error:
        raise NaviError(f"{shown}: {error.strerror or error}", hint="try another path") from error


def open_plain(path: Path) -> BufferedReader:
    """Only a plain file: a pipe or a device could block for ever or never end."""
    _plain_status(path)
    # Should somebody swap the file just now: follow no link and wait for no pipe.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InvalidInput("it is not a plain file any more", hint="list its folder")
    return os.fdopen(descriptor, "rb")


def replace(path: Path, content: bytes) -> None:
    """Whoever reads the file meanwhile, or after a crash, sees the old content or the new one."""
    try:
        old = _plain_status(path)
        # Renaming would silently defeat the write protection, and so would being root.
        if not old.st_mode & 0o222 or not os.access(path, os.W_OK):
            raise PermissionError(path)
    except FileNotFoundError:
        old = None
    temporary = path.with_name(f".navi-{secrets.token_hex(8)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(descriptor, "wb") as file:
            if old is not None:
                # Before the content, so that a private file is never readable for others.
                _keep_owner_and_mode(descriptor, old)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def kind(status: os.stat_result) -> str:
    return KINDS.get(stat.S_IFMT(status.st_mode), "no plain file")


def _plain_status(path: Path) -> os.stat_result:
    status = path.lstat()
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(path)
    if not stat.S_ISREG(status.st_mode):
        raise InvalidInput(
            f"{one_line(path.name)} is {kind(status)}", hint="only plain files can be used"
        )
    return status


def _keep_owner_and_mode(descriptor: int, old: os.stat_result) -> None:
    try:
        os.fchown(descriptor, old.st_uid, old.st_gid)
    except PermissionError:
        pass  # only root may give files away; otherwise the file becomes ours
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
