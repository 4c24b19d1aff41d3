"""Channels that are programs or packages of this machine."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from navi.live.model.notification import NotificationKind
from navi.live.runtime.notifications.apprise_url import NOT_INSTALLED, AppriseUrl
from navi.live.runtime.notifications.channel import ChannelUnavailable, Message
from navi.live.runtime.notifications.channel_setup import channels_of, rules_of
from navi.live.runtime.notifications.desktop import Desktop
from navi.live.runtime.settings import NotificationSettings

MESSAGE = Message(
    key="question.1",
    kind=NotificationKind.QUESTION,
    title="builder asks",
    text="Which database?",
    importance=4,
    created_at=datetime(2026, 11, 18, tzinfo=UTC),
    answer_link="https://navi.example.com/a/token",
)
APPRISE = """\
class Apprise:
    def add(self, url):
        self.url = url
        return url.startswith("file:")

    def notify(self, title, body):
        with open(self.url.removeprefix("file:"), "a") as file:
            file.write(f"{title}\\n{body}\\n")
        return True
"""


def install(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this the command that shows notifications, under either system's name."""
    for name in ("notify-send", "osascript"):
        program = folder / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


async def test_the_desktop_shows_the_title_and_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, f'printf "%s\\n" "$@" > {tmp_path}/shown', monkeypatch)
    await Desktop().send(MESSAGE)
    assert (tmp_path / "shown").read_text().splitlines()[-2:] == [
        "builder asks",
        "Which database?",
    ]


async def test_a_desktop_that_shows_nothing_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "echo 'no display' >&2; exit 1", monkeypatch)
    with pytest.raises(ChannelUnavailable, match="no display"):
        await Desktop().send(MESSAGE)


async def test_a_desktop_without_the_command_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ChannelUnavailable, match="is not installed"):
        await Desktop().send(MESSAGE)


async def test_apprise_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    with pytest.raises(ChannelUnavailable) as refusal:
        await AppriseUrl("tgram://token/chat", "apprise").send(MESSAGE)
    assert str(refusal.value) == NOT_INSTALLED


async def test_apprise_gets_the_text_and_the_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "apprise", raising=False)
    (tmp_path / "apprise.py").write_text(APPRISE)
    monkeypatch.syspath_prepend(tmp_path)

    await AppriseUrl(f"file:{tmp_path}/sent", "apprise").send(MESSAGE)
    with pytest.raises(ChannelUnavailable, match="does not support"):
        await AppriseUrl("nonsense", "apprise").send(MESSAGE)

    assert (tmp_path / "sent").read_text().splitlines() == [
        "builder asks",
        "Which database?",
        "https://navi.example.com/a/token",
    ]
    monkeypatch.delitem(sys.modules, "apprise")


def test_each_url_of_apprise_is_a_channel_and_apprise_means_all_of_them() -> None:
    settings = NotificationSettings(
        apprise=["tgram://one", "slack://two"], desktop=True, question=["apprise"]
    )
    channels = channels_of(settings)
    rules = rules_of(settings, channels, UTC)
    assert [each.name for each in channels] == ["desktop", "apprise-1", "apprise-2"]
    assert rules.channels[NotificationKind.QUESTION] == ["apprise-1", "apprise-2"]
    assert rules.channels[NotificationKind.DIGEST] == ["desktop", "apprise-1", "apprise-2"]
