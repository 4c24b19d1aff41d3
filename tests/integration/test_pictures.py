"""The pictures in the documents show what the commands show today."""

from __future__ import annotations

import runpy

from tests.places import ROOT

FOLDER = ROOT / "docs" / "pictures"


def test_each_picture_is_what_make_pictures_makes() -> None:
    made = runpy.run_path(str(FOLDER / "make.py"))["pictures"]()
    kept = {path.name: path.read_text() for path in FOLDER.glob("*.svg")}
    assert kept == made, "make pictures"
