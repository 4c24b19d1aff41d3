from __future__ import annotations

from pathlib import Path

import pytest

from navi.base.errors import UsageError
from navi.live.runtime import server_files, settings


def environment(tmp_path: Path, text: str = "", **variables: str) -> dict[str, str]:
    path = tmp_path / "config.toml"
    path.write_text(text)
    return {"NAVI_CONFIG": str(path), **variables}


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    loaded = settings.load({"XDG_CONFIG_HOME": str(tmp_path)})
    assert (loaded.server.host, loaded.server.port) == ("127.0.0.1", 8420)
    assert loaded.agent.max_iterations == 25


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    text = "[server]\nport = 1111\nhost = 'localhost'\n[agent]\nmodel = 'openai:a'"
    loaded = settings.load(
        environment(
            tmp_path, text, NAVI_SERVER_PORT="2222", NAVI_MODEL="scripted",
            NAVI_SERVER_ALLOWED_HOSTS="a.example, b.example", NAVI_TOOLS_HTTP_ALLOW_PRIVATE="true",
        )
    )  # fmt: skip
    assert (loaded.server.port, loaded.server.host) == (2222, "localhost")
    assert loaded.agent.model == "scripted"
    assert loaded.server.allowed_hosts == ["a.example", "b.example"]
    assert loaded.tools.http_allow_private is True


def test_sections_of_other_parts_of_navi_are_left_alone(tmp_path: Path) -> None:
    settings.load(environment(tmp_path, "[fts]\nfields = ['content']"))


@pytest.mark.parametrize("text", ["[server]\nprot = 1", "[agent]\nmax_iterations = 0", "x = 1"])
def test_a_key_nobody_knows_is_refused_rather_than_ignored(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError):
        settings.load(environment(tmp_path, text))


def test_paths_follow_the_environment() -> None:
    assert server_files.home({"NAVI_HOME": "/a"}) == Path("/a")
    assert server_files.home({"XDG_DATA_HOME": "/b"}) == Path("/b/navi")
    assert server_files.home({}) == Path("~/.local/share/navi").expanduser()
    assert server_files.settings_file({"XDG_CONFIG_HOME": "/c"}) == Path("/c/navi/config.toml")
    assert server_files.database_url({"NAVI_HOME": "/a"}) == "sqlite:////a/navi.sqlite3"
    assert (
        server_files.database_url({"NAVI_DATABASE_URL": "postgresql://x/y"}) == "postgresql://x/y"
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("quiet_from = '22:00'", "set both quiet_from and quiet_until, or neither"),
        ("quiet_from = '9pm'\nquiet_until = '07:00'", "notifications.quiet_from"),
        ("finished = ['pigeon']", "'pigeon' is not one of desktop, webhook, ntfy, apprise"),
        ("quiet_except = ['digest']", "'digest' is not one of question"),
        ("ntfy = 'https://ntfy.sh/'", "it needs a topic"),
        ("webhook = 'example.com'", "it must begin with http"),
    ],
)
def test_settings_of_notifications_that_make_no_sense_are_refused(
    tmp_path: Path, text: str, problem: str
) -> None:
    with pytest.raises(UsageError) as refusal:
        settings.load(environment(tmp_path, f"[notifications]\n{text}"))
    assert problem in refusal.value.message
