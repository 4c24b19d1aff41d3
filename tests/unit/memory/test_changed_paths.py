"""The paths of changed files."""

from __future__ import annotations

import pytest

from navi.memory.overview.changed_paths import path_below


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/srv/shop/src/a.ts", "src/a.ts"),
        ("/srv/shop-old/a.ts", "/srv/shop-old/a.ts"),
        ("./src/a.ts", "src/a.ts"),
        ("src/a.ts", "src/a.ts"),
    ],
)
def test_paths_are_short_inside_the_project(path: str, expected: str) -> None:
    assert path_below(path, "/srv/shop/", None) == expected
