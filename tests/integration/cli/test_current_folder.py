"""Processes that Navi starts don't import modules from the folder in which a person works."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from navi.base.python_command import python_module
from navi.cli.recall.picker.freshness import bring_up_to_date

pytestmark = pytest.mark.usefixtures("private_home")


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that appears if `click` is imported from the current folder."""
    folder = tmp_path / "cloned"
    folder.mkdir()
    (folder / "click.py").write_text(
        "from pathlib import Path; Path(__file__).with_name('sprung').touch()"
    )
    monkeypatch.chdir(folder)
    return folder / "sprung"


def test_the_picker_does_not_import_from_the_current_folder(trap: Path) -> None:
    asyncio.run(bring_up_to_date())
    assert not trap.exists()


def test_a_module_does_not_import_from_the_current_folder(trap: Path) -> None:
    done = subprocess.run(
        python_module("navi.cli.recall.main", "--version"), check=True, capture_output=True
    )
    assert done.stdout.startswith(b"recall")
    assert not trap.exists()
