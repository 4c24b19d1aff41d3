"""Paths as terms of the full-text index: reversed, so that the end of a path is a term's prefix.

`/home/ada/shop/src/cart.ts` becomes `cart.ts/src/shop/ada/home//`. The second slash marks an
absolute path. Terms are in lower case.
"""

from __future__ import annotations

import os


def path_term(path: str) -> str | None:
    """The term of a path; None for `.`, for `/` and for an empty path."""
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
    """The path of a term, in lower case."""
    path = "/".join(reversed(term.rstrip("/").split("/")))
    return f"/{path}" if term.endswith("//") else path


def shorter_ends(term: str) -> list[str]:
    """`cart.ts/src/shop/` -> `cart.ts/` and `cart.ts/src/`, which may name the same file."""
    names = term.rstrip("/").split("/")
    return ["/".join(names[:count]) + "/" for count in range(1, len(names))]


def is_same_file(relative: str, folder: str, end: str) -> bool:
    """Whether the path of term `relative`, joined to `folder`, ends in that of term `end`."""
    term = path_term(os.path.join(folder, path_of(relative)))
    return term is not None and term.startswith(end)
