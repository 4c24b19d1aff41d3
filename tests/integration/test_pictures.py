"""The pictures in the documents show what the commands print today."""

from __future__ import annotations

from scripts import terminal_pictures
from tests.paths import ROOT

IMAGES = ROOT / "docs" / "images"


def test_each_picture_of_a_terminal_is_what_make_pictures_draws() -> None:
    for name, picture in terminal_pictures.pictures().items():
        assert (IMAGES / name).read_text() == picture, "run `make pictures`"
