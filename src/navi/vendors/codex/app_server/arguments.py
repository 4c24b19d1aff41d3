"""A person's own arguments for `codex exec`, as arguments of `codex app-server`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

SHORT = {"-c": "--config", "-m": "--model", "-s": "--sandbox"}
SETTINGS = {"--model": "model", "--sandbox": "sandbox_mode"}
"""Options of `exec` that the app-server has only as settings."""
WITH_VALUE = ("--config", "--enable", "--disable", "--color", *SETTINGS)
WITHOUT_VALUE = ("--strict-config", "--skip-git-repo-check")
MEANINGLESS = ("--color", "--skip-git-repo-check")


def app_server_arguments(arguments: Sequence[str]) -> list[str] | None:
    """The arguments with which the app-server behaves as `codex exec` does with `arguments`.

    None if that is impossible, or if `arguments` forbid Codex to ask: then `exec` runs the turn.
    """
    result: list[str] = []
    for option, value in _options(arguments):
        if option is None:
            return None
        if option == "--config" and _forbids_questions(value or ""):
            return None
        if option in SETTINGS:
            result.append(f"--config={SETTINGS[option]}={json.dumps(value)}")
        elif option not in MEANINGLESS:
            result.append(option if value is None else f"{option}={value}")
    return result


def _options(arguments: Sequence[str]) -> Iterator[tuple[str | None, str | None]]:
    """The options and their values; None for an option that the app-server doesn't have."""
    rest = iter(arguments)
    for argument in rest:
        name, has_value, value = argument.partition("=")
        if argument[:2] in SHORT and len(argument) > 2:
            name, has_value, value = argument[:2], "=", argument[2:].removeprefix("=")
        option = SHORT.get(name, name)
        if option in WITHOUT_VALUE and not has_value:
            yield option, None
        elif option not in WITH_VALUE:
            yield None, None
        else:
            yield option, value if has_value else next(rest, "")


def _forbids_questions(setting: str) -> bool:
    key, _, value = setting.partition("=")
    return key.strip() == "approval_policy" and value.strip().strip("\"'") == "never"
