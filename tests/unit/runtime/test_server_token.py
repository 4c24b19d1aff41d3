from __future__ import annotations

from pathlib import Path

import pytest

from navi.base.errors import UsageError
from navi.live.runtime.services.server_token import ServerToken, rotate


@pytest.mark.parametrize("token", ["a", "nineteen-characters"])
def test_a_token_that_can_be_guessed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    (tmp_path / "token").write_text(token)
    with pytest.raises(UsageError, match=str(tmp_path)) as in_file:
        ServerToken.find(tmp_path)
    assert "20 or more" in in_file.value.hint
    monkeypatch.setenv("NAVI_TOKEN", token)
    with pytest.raises(UsageError, match="NAVI_TOKEN"):
        ServerToken.find(tmp_path)


def test_a_rotated_token_is_noticed_and_is_for_its_owner_only(tmp_path: Path) -> None:
    token = ServerToken.find(tmp_path)
    old = token.value

    path = rotate(tmp_path)

    assert path.stat().st_mode & 0o777 == 0o600
    assert token.value == path.read_text().strip() != old
    assert list(tmp_path.glob("*token*")) == [path]


def test_the_old_token_stays_while_the_file_is_gone_or_holds_none(tmp_path: Path) -> None:
    token = ServerToken.find(tmp_path)
    old = token.value
    (tmp_path / "token").unlink()
    assert token.value == old
    (tmp_path / "token").write_text("short\n")
    assert token.value == old


def test_a_token_of_the_environment_does_not_change_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAVI_TOKEN", "a token of the environment")
    token = ServerToken.find(tmp_path)
    rotate(tmp_path)
    assert token.value == "a token of the environment"
