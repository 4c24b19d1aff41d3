"""The page as shipped: installing and testing Navi needs no Node."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from scripts import page_fingerprint, page_rebuild
from tests.paths import ROOT

WEB = ROOT / "src" / "navi" / "web"
FIRST_LOAD_BYTES = 200_000


def test_the_page_was_built_from_its_source_as_it_is_now() -> None:
    kept = page_fingerprint.FINGERPRINT.read_text().strip()
    assert kept == page_fingerprint.fingerprint(), "the source of the page changed: run `make web`"


@pytest.mark.proof
def test_the_committed_page_is_what_its_source_builds(tmp_path: Path) -> None:
    version = page_rebuild.node_version()
    if version is None or version < page_rebuild.OLDEST_NODE:
        pytest.skip("Node is missing or too old: `make web-check` says which one it takes")
    assert page_rebuild.differences() == []

    forged = tmp_path / "web"
    shutil.copytree(WEB, forged)
    with (forged / "assets" / "page.js").open("a") as script:
        script.write("// one line more\n")
    (forged / "assets" / "more.js").touch()
    assert page_rebuild.differences(forged) == ["assets/more.js", "assets/page.js"]


def test_the_wheel_has_the_page(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    files = [path for path in WEB.rglob("*") if path.is_file()]
    assert {f"navi/{path.relative_to(WEB.parent).as_posix()}" for path in files} <= inside
    assert {"navi/web/index.html", "navi/web/assets/page.js"} <= inside


def test_every_file_that_the_page_names_is_there() -> None:
    named = re.findall(r'(?:src|href)="(/[^"]+)"', (WEB / "index.html").read_text())
    assert named
    assert [name for name in named if not (WEB / name.lstrip("/")).is_file()] == []


def test_the_page_has_no_script_or_style_in_it() -> None:
    text = (WEB / "index.html").read_text()
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=", text) == []


def test_the_first_load_is_light() -> None:
    """All files the page loads, with their static imports."""
    named = re.findall(r'(?:src|href)="(/[^"]+)"', (WEB / "index.html").read_text())
    waiting = [WEB / "index.html", *(WEB / name.lstrip("/") for name in named)]
    loaded: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path not in loaded:
            loaded.add(path)
            imports = re.findall(rb'(?:from|import) ?"\./([\w.-]+)"', path.read_bytes())
            waiting += [path.parent / name.decode() for name in imports]
    assert (WEB / "assets" / "reducer.js") in loaded
    assert sum(len(gzip.compress(path.read_bytes())) for path in loaded) < FIRST_LOAD_BYTES


def test_the_lock_of_the_page_names_no_place_to_load_from() -> None:
    lock = (ROOT / "webui" / "package-lock.json").read_text()
    assert '"resolved"' not in lock
    assert lock.count('"integrity"') > 10
