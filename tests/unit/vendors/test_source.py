"""Which agents are installed, and who reads their sessions."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from navi.live.agents.command_line.agent_environment import Launch
from navi.live.agents.driver import Driver
from navi.live.runtime import settings
from navi.live.runtime.app import built_in_driver, default_drivers
from navi.vendors import registry
from navi.vendors.claude_code.history import ClaudeCodeSource
from navi.vendors.vendor import Vendor

Install = Callable[..., None]


class DiarySource(ClaudeCodeSource):
    """A source as another package would provide it."""

    name = "diary"


class DiaryDriver(Driver):
    def __init__(self, launch: Launch) -> None:
        self.launch = launch


class Diary(Vendor):
    """An agent as another package would provide it."""

    name = "diary"
    title = "Diary"
    command = "diary"

    def source(self) -> DiarySource:
        return DiarySource()

    def driver(self, launch: Launch) -> DiaryDriver:
        return DiaryDriver(launch)

    def variables(self, environment: Mapping[str, str]) -> Sequence[str]:
        return ["DIARY_*"]


def forget_all() -> None:
    registry.vendors.cache_clear()
    registry.sources.cache_clear()
    settings.settings_model.cache_clear()


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Replaces the installed entry points by the one a test names."""

    def pretend(value: str, group: str) -> None:
        points = EntryPoints([EntryPoint("diary", value, group)])
        monkeypatch.setattr(registry, "_entry_points", lambda: points)
        forget_all()

    yield pretend
    forget_all()


def test_the_built_in_agents_come_through_the_entry_point_that_others_use() -> None:
    assert set(registry.vendors()) >= {"claude_code", "codex", "navi"}
    assert all(name == each.name for name, each in registry.vendors().items())
    assert set(registry.sources()) >= {"claude_code", "codex", "navi"}
    assert all(name == each.name for name, each in registry.sources().items())


def test_another_package_adds_its_own_agent(install: Install) -> None:
    install(f"{__name__}:Diary", "navi.vendors")
    assert registry.vendors()["diary"].title == "Diary"
    assert isinstance(registry.sources()["diary"], DiarySource)


def test_an_agent_of_another_package_has_a_driver_and_a_section_in_the_settings(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(f"{__name__}:Diary", "navi.vendors")
    monkeypatch.setenv("DIARY_KEY", "of its own")
    chosen = settings.load({**os.environ, "NAVI_DIARY_COMMAND": "/opt/diary"})

    driver = default_drivers(chosen, built_in_driver(chosen, []))["diary"]

    assert isinstance(driver, DiaryDriver)
    assert driver.launch.command == "/opt/diary"
    assert driver.launch.environment["DIARY_KEY"] == "of its own"


def test_a_source_of_an_earlier_version_is_still_read(install: Install) -> None:
    install(f"{__name__}:DiarySource", "navi.sources")
    assert registry.vendors() == {}
    assert isinstance(registry.sources()["diary"], DiarySource)


@pytest.mark.parametrize("group", ["navi.vendors", "navi.sources"])
def test_one_that_cannot_be_loaded_is_named(install: Install, group: str) -> None:
    install("no_such_package.diary:Diary", group)
    with pytest.raises(registry.VendorBroken, match=r"agent diary from no_such_package\.diary"):
        registry.sources()


def test_sources_can_be_handed_to_other_processes() -> None:
    for name, each in registry.sources().items():
        assert pickle.loads(pickle.dumps(each)).name == name
