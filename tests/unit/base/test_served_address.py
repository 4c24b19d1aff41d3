"""The file that says where a home's server listens."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from navi.base.errors import StoreUnusable
from navi.base.served_address import AddressFile, served_address

ADDRESS = "http://127.0.0.1:8421"


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"NAVI_HOME": str(tmp_path)}


def claim(home: dict[str, str]) -> AddressFile:
    file = AddressFile.claim(home)
    assert file is not None
    return file


def test_the_address_can_be_read_until_the_server_removes_it(home: dict[str, str]) -> None:
    assert served_address(home) is None
    file = claim(home)
    assert served_address(home) is None
    file.write(ADDRESS)
    assert served_address(home) == ADDRESS
    path = Path(home["NAVI_HOME"]) / "address"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    file.remove()
    assert served_address(home) is None
    assert not path.exists()


def test_a_second_server_of_the_same_home_is_noticed(home: dict[str, str]) -> None:
    file = claim(home)
    assert AddressFile.claim(home) is None
    file.write(ADDRESS)
    assert AddressFile.claim(home) is None
    assert served_address(home) == ADDRESS
    file.remove()
    claim(home).remove()


def test_an_address_that_a_killed_server_left_behind_is_ignored_and_replaced(
    home: dict[str, str],
) -> None:
    path = Path(home["NAVI_HOME"]) / "address"
    path.write_text("http://127.0.0.1:65000/and/longer\n")
    assert served_address(home) is None
    file = claim(home)
    file.write(ADDRESS)
    assert path.read_text() == f"{ADDRESS}\n"
    file.remove()


def test_each_home_has_its_own_server(home: dict[str, str], tmp_path: Path) -> None:
    other = {"NAVI_HOME": str(tmp_path / "other")}
    (tmp_path / "other").mkdir()
    files = [claim(home), claim(other)]
    for file, port in zip(files, (1, 2), strict=True):
        file.write(f"http://127.0.0.1:{port}")
    assert [served_address(each) for each in (home, other)] == [
        "http://127.0.0.1:1",
        "http://127.0.0.1:2",
    ]
    for file in files:
        file.remove()


def test_an_address_file_that_cannot_be_written_is_named(home: dict[str, str]) -> None:
    (Path(home["NAVI_HOME"]) / "address").mkdir()
    assert served_address(home) is None
    with pytest.raises(StoreUnusable, match="address"):
        AddressFile.claim(home)
