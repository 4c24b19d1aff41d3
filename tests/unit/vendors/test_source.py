"""Which sources are installed."""

from __future__ import annotations

import pickle
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from navi.sources import source
from navi.sources.claude_code import ClaudeCode


def test_the_built_in_sources_come_through_the_hook_that_others_use() -> None:
    assert set(source.installed()) >= {"claude_code", "codex", "navi"}
    assert all(name == each.name for name, each in source.installed().items())


class Diary(ClaudeCode):
    """A source as another package would bring it."""

    name = "diary"


def test_another_package_adds_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    added = EntryPoint("diary", f"{__name__}:Diary", source.ENTRY_POINTS)
    monkeypatch.setattr(added.__class__, "load", lambda self: Diary)
    monkeypatch.setattr(source, "entry_points", lambda group: EntryPoints([added]))
    assert isinstance(source.installed()["diary"], Diary)


def test_one_that_can_t_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("diary", "no_such_package.diary:Diary", source.ENTRY_POINTS)
    monkeypatch.setattr(source, "entry_points", lambda group: EntryPoints([broken]))
    with pytest.raises(source.SourceBroken, match=r"the source diary of no_such_package\.diary"):
        source.installed()


def test_sources_can_be_handed_to_other_processes() -> None:
    for name, each in source.installed().items():
        assert pickle.loads(pickle.dumps(each)).name == name
