"""The command that upgrades Navi, for every way of installing it."""

from __future__ import annotations

from pathlib import Path

import pytest

from navi.cli.navi.installation import upgrade_command

PIPX, UV, PIP = "pipx_metadata.json", "uv-receipt.toml", "pyvenv.cfg"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "my code"
    (folder / ".git").mkdir(parents=True)
    return folder


def environment(folder: Path, file: str) -> Path:
    """An environment as the installer leaves it."""
    prefix = folder / "heynavi"
    prefix.mkdir()
    (prefix / file).touch()
    return prefix


@pytest.mark.parametrize(
    ("file", "command"),
    [
        (PIPX, "pipx upgrade heynavi"),
        (UV, "uv tool upgrade heynavi"),
        (PIP, "/env/bin/python -m pip install --upgrade heynavi"),
    ],
)
def test_a_package_is_upgraded_by_what_installed_it(
    tmp_path: Path, file: str, command: str
) -> None:
    prefix = environment(tmp_path, file)
    assert upgrade_command(prefix, None, Path("/env/bin/python")) == command


@pytest.mark.parametrize(
    ("file", "command"),
    [
        (PIPX, "pipx install --force {}"),
        (UV, "uv tool install --reinstall {}"),
        (PIP, "/env/bin/python -m pip install --upgrade {}"),
    ],
)
def test_what_came_from_a_checkout_is_pulled_and_installed_again(
    tmp_path: Path, checkout: Path, file: str, command: str
) -> None:
    prefix = environment(tmp_path, file)
    order = f"git -C '{checkout}' pull --ff-only && " + command.format(f"'{checkout}'")
    assert upgrade_command(prefix, checkout, Path("/env/bin/python")) == order


def test_the_environment_of_a_checkout_is_upgraded_with_make(checkout: Path) -> None:
    order = f"git -C '{checkout}' pull --ff-only && make -C '{checkout}' install"
    assert upgrade_command(checkout / ".venv", checkout) == order


def test_a_folder_without_git_is_installed_again(tmp_path: Path) -> None:
    source = tmp_path / "unpacked"
    source.mkdir()
    prefix = environment(tmp_path, UV)
    assert upgrade_command(prefix, source) == f"uv tool install --reinstall {source}"


def test_a_temporary_installation_takes_the_newest_next_time() -> None:
    prefix = Path("/srv/ada/.cache/uv/archive-v0/Xy12")
    assert upgrade_command(prefix, None) == "uvx heynavi@latest"
