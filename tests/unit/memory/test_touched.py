"""Which files a tool call names."""

from __future__ import annotations

import json
from typing import Any

import pytest

from navi.memory.file_paths import is_same_file, path_of, path_term, shorter_ends
from navi.memory.ingest.derived.touched_files import files_in_command, touched_files

PATCH = """*** Begin Patch
*** Update File: src/auth/handler.ts
*** Move to: src/auth/guard.ts
@@
-old
+new
*** Add File: docs/auth.md
+text
*** Delete File: src/old file.ts
*** End Patch"""
PATCHED = ["src/auth/handler.ts", "src/auth/guard.ts", "docs/auth.md", "src/old file.ts"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"file_path": "/p/a.ts", "content": "path: /etc/passwd"}, ["/p/a.ts"]),
        ({"file_path": "/p/a.ts", "edits": [{"old_string": "x"}]}, ["/p/a.ts"]),
        ({"notebook_path": "/p/a.ipynb"}, ["/p/a.ipynb"]),
        ({"pattern": "TODO", "path": "src"}, ["src"]),
        ({"pattern": "**/*.ts"}, []),
        ({"action": "read", "path": "src/a.ts"}, ["src/a.ts"]),
        ({"paths": ["a.ts", "b.ts", "a.ts"]}, ["a.ts", "b.ts"]),
        ({"files": [{"path": "a.ts"}, {"path": "b.ts"}]}, ["a.ts", "b.ts"]),
        ({"path": "https://example.org/a"}, []),
        ({"path": ".", "file": "two\nlines"}, []),
        ({"path": 5, "file": None}, []),
        ({"path": "a.ts", "workdir": "/p/sub"}, ["/p/sub/a.ts"]),
        ({"input": PATCH}, PATCHED),
        (PATCH, PATCHED),
        ([1, 2], []),
    ],
)
def test_the_paths_in_a_tool_s_input_are_found(arguments: Any, expected: list[str]) -> None:
    assert touched_files(json.dumps(arguments).encode(), None) == expected


def test_the_files_of_a_patch_in_a_shell_command_are_found() -> None:
    command = f"apply_patch <<'EOF'\n{PATCH}\nEOF"
    arguments = json.dumps({"cmd": command, "workdir": "/p"}).encode()
    assert touched_files(arguments, command.encode()) == [f"/p/{path}" for path in PATCHED]


@pytest.mark.parametrize("arguments", [None, b"", b"{", b'{"path":', b"\xff path", b'"*** "'])
def test_an_input_that_cannot_be_read_names_no_file(arguments: bytes | None) -> None:
    assert touched_files(arguments, None) == []


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("sed -n '1,20p' src/auth/handler.ts", ["src/auth/handler.ts"]),
        ("cat /p/a.py | head", ["/p/a.py"]),
        ("pytest tests/test_a.py::test_b -q", ["tests/test_a.py"]),
        ("cat 'a.txt' > b.txt; rm c.txt", ["a.txt", "b.txt", "c.txt"]),
        ("curl https://example.org/a.js -o=x", []),
        ("echo 1.5 -la --x", []),
    ],
)
def test_words_of_a_command_that_look_like_files_are_found(
    command: str, expected: list[str]
) -> None:
    assert files_in_command(command.encode()) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/p/Src/A.ts", "/p/src/a.ts"),
        ("./src//a.ts", "src/a.ts"),
        ("src/x/../a.ts", "src/a.ts"),
        ("C:\\p\\a.ts", "/c:/p/a.ts"),
        ("file:///p/a.ts", "/p/a.ts"),
    ],
)
def test_a_path_is_the_same_however_it_is_written(path: str, expected: str) -> None:
    term = path_term(path)
    assert term is not None
    assert path_of(term) == expected


def test_what_names_nothing_has_no_term() -> None:
    assert [path_term(path) for path in ("", ".", "./", "/")] == [None] * 4


def test_a_relative_path_is_the_file_below_its_session_s_folder() -> None:
    wanted = path_term("/p/shop/src/a.ts") or ""
    assert shorter_ends(wanted) == ["a.ts/", "a.ts/src/", "a.ts/src/shop/"]
    assert is_same_file("a.ts/src/", "/p/shop", wanted)
    assert not is_same_file("a.ts/src/", "/p/garden", wanted)
    assert is_same_file("a.ts/", "/p/shop/src", path_term("src/a.ts") or "")
