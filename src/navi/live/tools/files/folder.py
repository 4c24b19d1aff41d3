"""The session's folder: checks that paths stay inside, and opens and replaces files safely.

A path is first resolved with all its links. Then each folder on the way is opened without following
links, so that replacing a folder with a link in the meantime can't lead outside.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from navi.base.errors import InvalidInput, NaviError, NotAllowed, NotFound
from navi.base.file_modes import person_umask
from navi.base.platform import has_default_acl
from navi.live.tools.files.decoded_text import one_line

KINDS = {
    stat.S_IFLNK: "a symbolic link that leads in a circle",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
# On Linux you can pass through a folder without permission to list it.
PASS_THROUGH = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Location:
    """A resolved path."""

    root: Path
    inside: Path
    """The path from the root, without links."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in an open folder, so later changes to the path don't matter."""

    path: Path
    folder: int
    name: str

    def status(self) -> os.stat_result:
        """The status of a link itself, not of its target."""
        return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)


def locate(folder: Path, path: str) -> Location:
    """Resolves `path`, following symbolic links and `..`. Refuses a result outside the folder.

    A file that doesn't exist yet counts as being where it would be created.
    """
    root = Path(os.path.realpath(folder))
    if not root.is_dir():
        raise NotFound(f"the session's folder {root} does not exist", hint="create it again")
    target = Path(os.path.realpath(root / path))
    if not target.is_relative_to(root):
        raise NotAllowed(
            f"{one_line(path)} is outside the session's folder",
            hint=f"use a path inside {root}; symbolic links and .. are followed first",
        )
    return Location(root, target.relative_to(root))


@contextmanager
def entry_at(location: Location, *, makes_folders: bool = False) -> Iterator[Entry]:
    """Open the folder that contains the location, without following links inside the root."""
    *parents, name = location.inside.parts or (".",)
    descriptor = os.open(location.root, PASS_THROUGH)
    try:
        for parent in parents:
            if makes_folders:
                _make_folder(descriptor, parent)
            inner = os.open(parent, PASS_THROUGH | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield Entry(location.root / location.inside, descriptor, name)
    finally:
        os.close(descriptor)


@contextmanager
def explained_errors(path: str) -> Iterator[None]:
    """Turns errors of the operating system into errors that explain what is wrong."""
    name = one_line(path)
    try:
        yield
    except FileNotFoundError as error:
        raise NotFound(
            f"there is no {name}", hint="list its folder to see what is there"
        ) from error
    except PermissionError as error:
        raise NotAllowed(f"no permission for {name}", hint="check its mode and owner") from error
    except IsADirectoryError as error:
        raise InvalidInput(f"{name} is a folder", hint="use the action `list`") from error
    except (NotADirectoryError, FileExistsError) as error:
        raise InvalidInput(
            f"{name} is not a folder, or leads through something that isn't one",
            hint="list the folders on the way",
        ) from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise InvalidInput(
                f"{name} leads through a link that points back at itself or has just changed",
                hint="list the folders on the way, then try again",
            ) from error
        raise NaviError(f"{name}: {error.strerror or error}", hint="try another path") from error


@contextmanager
def opened_folder(parent: int, name: str) -> Iterator[int]:
    """The descriptor of a folder, opened so that it can be listed."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_plain(entry: Entry) -> BufferedReader:
    """Opens plain files only: a pipe or a device could block forever or never end."""
    _plain_status(entry)
    # The file may have just been swapped for a link or a pipe: don't follow it or wait for it.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(entry.name, flags, dir_fd=entry.folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InvalidInput("it is no longer a plain file", hint="list its folder")
    return os.fdopen(descriptor, "rb")


def replace(entry: Entry, content: bytes) -> None:
    """Replace a file's content. Readers see the old content or the new, even after a crash."""
    try:
        old = _plain_status(entry)
        # Renaming would silently bypass write protection, and so would root's privileges.
        if not old.st_mode & 0o222 or not os.access(entry.name, os.W_OK, dir_fd=entry.folder):
            raise PermissionError(entry.path)
    except FileNotFoundError:
        old = None
    temporary = f".navi-{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o666, dir_fd=entry.folder)
    try:
        with open(descriptor, "wb") as file:
            # Before the content is written, so that others can never read a private file.
            if old is None:
                _give_usual_mode(descriptor, 0o666, entry.folder)
            else:
                _keep_owner_and_mode(descriptor, old)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary, entry.name, src_dir_fd=entry.folder, dst_dir_fd=entry.folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=entry.folder)
        raise


def kind(status: os.stat_result) -> str:
    return KINDS.get(stat.S_IFMT(status.st_mode), "not a plain file")


def _make_folder(parent: int, name: str) -> None:
    try:
        os.mkdir(name, dir_fd=parent)
    except FileExistsError:
        return
    with opened_folder(parent, name) as folder:
        _give_usual_mode(folder, 0o777, parent)


def _give_usual_mode(descriptor: int, mode: int, parent: int) -> None:
    """Set the mode that the person's own umask would give; this process has a stricter one."""
    if has_default_acl(parent):
        return  # the umask is ignored there, so the mode is the usual one already
    os.fchmod(descriptor, os.fstat(descriptor).st_mode & 0o7777 | mode & ~person_umask())


def _plain_status(entry: Entry) -> os.stat_result:
    status = entry.status()
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(entry.path)
    if not stat.S_ISREG(status.st_mode):
        raise InvalidInput(
            f"{one_line(entry.name)} is {kind(status)}", hint="only plain files can be used"
        )
    return status


def _keep_owner_and_mode(descriptor: int, old: os.stat_result) -> None:
    try:
        os.fchown(descriptor, old.st_uid, old.st_gid)
    except PermissionError:
        pass  # only root may give files away; otherwise the file becomes ours
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
