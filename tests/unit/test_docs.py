"""The documentation says what the code does."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree

import pytest
from starlette.routing import Route

from navi.live.api import application
from navi.live.api.routes import socket_routes
from navi.live.model.event import TurnEvent
from navi.live.runtime import settings
from scripts import reference_pages
from tests.paths import ROOT

SOURCE = ROOT / "src" / "navi"
HTTP = ROOT / "docs" / "reference" / "http.md"
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
CODE_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BINARY = {".pyc", ".png"}
HOME_FOLDER = re.compile(r"/(?:home|Users)/\w+|/root\b")


@pytest.mark.parametrize("path", reference_pages.pages(), ids=lambda path: path.name)
def test_a_generated_file_is_what_the_generator_makes(path: Path) -> None:
    assert path.read_text() == reference_pages.pages()[path], "run `make docs`"


def test_the_settings_file_without_its_comment_marks_sets_every_default(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(re.sub(r"^#(?=[^ \n])", "", reference_pages.config_file(), flags=re.MULTILINE))

    loaded = settings.load({"NAVI_CONFIG": str(path)}).model_dump()

    for name, example in reference_pages.EXAMPLES.items():
        section, key = name.split(".")
        assert loaded[section][key] == example
        loaded[section][key] = None
    assert loaded == settings.settings_model()().model_dump()


def test_the_settings_file_as_it_is_sets_nothing() -> None:
    sections = tomllib.loads(reference_pages.config_file())
    assert sections == {name: {} for name in settings.settings_model().model_fields}


def test_every_variable_that_the_code_names_is_among_the_settings() -> None:
    named = re.compile(r"\b(?:NAVI|ANTHROPIC|OPENAI)_[A-Z_]*[A-Z]\b")
    variables = {name for text in _sources() for name in named.findall(text)}
    page = reference_pages.settings_page()
    assert [name for name in sorted(variables) if f"`{name}" not in page] == []


def test_every_route_has_its_place_in_the_reference() -> None:
    documented = re.findall(r"^### `([A-Z]+ /\S*)`$", HTTP.read_text(), re.MULTILINE)
    assert sorted(documented) == sorted(_calls())


def test_every_websocket_has_its_place_in_the_reference() -> None:
    text = HTTP.read_text()
    paths = [route.path for route in socket_routes.routes()]
    assert [path for path in paths if f"`{path}?after=" not in text] == []


def test_every_event_of_a_turn_has_its_place_in_the_reference() -> None:
    types = [kind.type for kind in get_args(TurnEvent)]
    assert [type_ for type_ in types if f"| `{type_}` |" not in HTTP.read_text()] == []


def test_every_field_on_the_wire_is_named_in_the_documentation() -> None:
    fields = re.findall(r'"(\w+)":', (SOURCE / "live" / "model" / "wire_format.py").read_text())
    pages_of_fields = HTTP.read_text() + (ROOT / "docs/how-to/users-and-access.md").read_text()
    assert [field for field in fields if f"`{field}`" not in pages_of_fields] == []


def test_every_example_in_json_is_json() -> None:
    for path in DOCUMENTS:
        for language, block in CODE_BLOCK.findall(path.read_text()):
            if language == "json":
                _parse_all(block)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(path: Path) -> None:
    assert [link for link in _links(path) if not _leads_somewhere(path, link)] == []


def test_a_link_that_leads_nowhere_would_be_seen() -> None:
    readme = ROOT / "README.md"
    assert _leads_somewhere(readme, "docs/concepts.md#delivery-modes")
    assert not _leads_somewhere(readme, "docs/concepts.md#no-such-heading")
    assert not _leads_somewhere(readme, "docs/no-such-page.md")


def test_every_drawing_is_well_formed() -> None:
    drawings = list((ROOT / "docs" / "images").glob("*.svg"))
    assert {"architecture.svg", "search.svg"} <= {path.name for path in drawings}
    for path in drawings:
        ElementTree.parse(path)


def test_no_document_names_somebodys_home_folder() -> None:
    files = [
        *DOCUMENTS,
        *(path for path in (ROOT / "docs").rglob("*") if path.suffix not in BINARY),
    ]
    offenders = [
        f"{path.relative_to(ROOT)}: {match}"
        for path in files
        if path.is_file()
        for match in HOME_FOLDER.findall(path.read_text())
    ]
    assert offenders == []


def _sources() -> Iterator[str]:
    for path in SOURCE.rglob("*.py"):
        yield path.read_text()


def _calls() -> Iterator[str]:
    """Every route of the server, such as `GET /sessions`."""
    for route in application.routes():
        if not isinstance(route, Route):
            continue
        # Starlette answers HEAD wherever it answers GET.
        for method in (route.methods or set()) - {"HEAD"}:
            yield f"{method} {route.path}"


def _parse_all(block: str) -> None:
    """One value, or one on each line."""
    try:
        json.loads(block)
    except ValueError:
        for line in block.splitlines():
            json.loads(line)


def _links(path: Path) -> Iterator[str]:
    for link in LINK.findall(CODE_BLOCK.sub("", path.read_text())):
        if "://" not in link:
            yield link


def _leads_somewhere(path: Path, link: str) -> bool:
    file, _, anchor = link.partition("#")
    target = path.parent / file if file else path
    if not target.exists():
        return False
    return not anchor or anchor in {_anchor(title) for title in HEADING.findall(target.read_text())}


def _anchor(title: str) -> str:
    """The anchor that Markdown viewers give a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
