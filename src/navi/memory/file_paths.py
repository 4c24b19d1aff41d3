"""Paths as the full-text holds them: from their end, so that a path's end is a term's beginning.

`/home/ada/shop/src/cart.ts` is `cart.ts/src/shop/ada/home//`; the second slash at the end is the
root, so that a relative path is known from an absolute one. Upper and lower case are the same.
"""

from __future__ import annotations

import os


def path_term(path: str) -> str | None:
    """None if it is no path of anything: `.`, or nothing at all."""
    path = path.strip().removeprefix("file://").lower()
    if path.startswith("~"):
        path = os.path.expanduser(path).lower()
    if path[1:3] == ":\\" or path.startswith(".\\"):
        path = path.replace("\\", "/")
    is_absolute = path.startswith("/") or path[1:3] == ":/"
    if "/." in path or "//" in path or path[:1] == "." or path[-1:] == "/":
        path = os.path.normpath(path)
    names = path.lstrip("/").split("/")
    if names in ([""], ["."]):
        return None
    names.reverse()
    return "/".join(names) + ("//" if is_absolute else "/")


def path_of(term: str) -> str:
    """The path that a term was made of, in lower case."""
    path = "/".join(reversed(term.rstrip("/").split("/")))
    return f"/{path}" if term.endswith("//") else path


def shorter_ends(term: str) -> list[str]:
    """The terms of relative paths that may be the same file, if they began in the right folder."""
    names = term.rstrip("/").split("/")
    return ["/".join(names[:count]) + "/" for count in range(1, len(names))]


def is_same_file(relative: str, folder: str, wanted: str) -> bool:
    """Whether a path, begun in `folder`, ends in the path of the term `wanted`."""
    found = path_term(os.path.join(folder, path_of(relative)))
    return found is not None and found.startswith(wanted)
