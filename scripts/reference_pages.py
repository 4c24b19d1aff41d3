"""Write the parts of docs/reference that come from the code.

settings.md   every setting and its default
config.toml   the same as a settings file with every line commented out
commands.md   the --help of every command

`make docs` runs this; a test fails when a page no longer matches the code.
"""

from __future__ import annotations

import inspect
import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import click
from pydantic.fields import FieldInfo

from navi.cli.navi.main import group as navi
from navi.cli.recall.main import group as recall
from navi.cli.sm.main import group as sm
from navi.live.agents.builtin import models
from navi.live.model.permission_policy import OnPermission
from navi.live.runtime.settings import Section, settings_model

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
WIDTH = 88
LONGEST_DEFAULT = 40
"""A longer default would push a table's other columns out of sight."""

EXAMPLES = {
    "recalls.timezone": "Europe/Paris",
    "budgets.dollars_per_day": 10.0,
    "budgets.tokens_per_day": 5_000_000,
    "notifications.webhook": "https://example.com/navi",
    "notifications.webhook_token": "a token",
    "notifications.ntfy": "https://ntfy.sh/your-topic",
    "notifications.ntfy_token": "tk_0123",
    "notifications.quiet_from": "22:00",
    "notifications.quiet_until": "07:00",
    "notifications.public_url": "https://navi.example.com",
    "agent.model": models.DEFAULT_ANTHROPIC_MODEL,
    "agent.anthropic_base_url": models.ANTHROPIC.base_url,
    "agent.openai_base_url": "http://127.0.0.1:11434/v1",
}
"""A value to show for each setting that has no default: TOML can't say "nothing"."""

TYPES = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "`true` or `false`",
    OnPermission: "`ask`, `deny` or `allow-listed`",
}
LIMITS = {"ge": "at least {}", "gt": "more than {}", "le": "at most {}", "lt": "less than {}"}

SETTINGS_HEAD = """\
<!-- Generated from the code by `make docs`. Don't edit. -->

# Settings

Navi works without any settings. Each setting is taken from the first of these that has it:

1. an option of the command, such as `navi serve --port 8421`,
2. the environment: `NAVI_<SECTION>_<KEY>`, such as `NAVI_SERVER_PORT=8421`,
3. the settings file,
4. the default.

The settings file is `~/.config/navi/config.toml` (or `$XDG_CONFIG_HOME/navi/config.toml`);
`NAVI_CONFIG` names another one. [config.toml](config.toml) is a settings file with every
setting in it, all commented out: copy it and change what you need. An unknown key is refused, not
ignored. Settings are read when the server starts.

In the environment, separate the items of a list with commas:
`NAVI_SERVER_ALLOWED_HOSTS=a.example,b.example`.
"""

ENVIRONMENT = """\
## Only in the environment

These are secrets or say where things are, so they can't be in the settings file.

| Variable | Default | What it does |
|---|---|---|
| `NAVI_HOME` | `~/.local/share/navi`, or `$XDG_DATA_HOME/navi` | The folder with the \
SQLite store and the access token. |
| `NAVI_CONFIG` | `~/.config/navi/config.toml`, or `$XDG_CONFIG_HOME/navi/config.toml` | The \
settings file. |
| `NAVI_DATABASE_URL` | a SQLite file in `NAVI_HOME` | A PostgreSQL store: \
`postgresql://user:password@host:5432/database`. |
| `NAVI_TOKEN` | the content of `$NAVI_HOME/token` | For the server, the access token of the user \
`local`, with at least 20 characters; for `sm`, your own. |
| `NAVI_URL` | the content of `$NAVI_HOME/address` while a server runs, otherwise what the \
settings say | Where `sm` finds the server: `http://127.0.0.1:8420`. |
| `NAVI_MODEL` | none | The same as `NAVI_AGENT_MODEL`, and takes precedence over it. |
| `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` | none | The providers' keys. |
| `ANTHROPIC_BASE_URL`, `OPENAI_BASE_URL` | the provider's own | Another endpoint, if the setting \
does not name one. |

Navi itself sets `NAVI_SESSION_ID` (the session's id), `NAVI_TOKEN` (the session's token) and
`NAVI_URL` for every agent that it starts, and so for every command that the agent runs. Claude Code
and Codex without a terminal also get `NAVI_TURN_ID`, and commands of the `terminal` tool get
`NAVI_COMMAND_ID`: Navi uses these to find and end the processes of a turn or command that
was stopped. `NAVI_RUN` is the folder in which Navi keeps the output of a turn's agent.
"""

CONFIG_HEAD = """\
# All of Navi's settings, each with its default. Generated from the code by `make docs`.
#
# Copy this file to ~/.config/navi/config.toml. To change a setting, remove the "#" before it.
"""

COMMANDS_HEAD = """\
<!-- Generated from the code by `make docs`. Don't edit. -->

# Commands

`make install` puts `navi`, `recall` and `sm` into `.venv/bin`. Run them from there, or put that
folder on your `PATH`. `heynavi` and `python -m navi` are the same as `navi`. `sm` talks to a
running server: the one at `NAVI_URL` or, if that is not set, the server that uses your `NAVI_HOME`,
at whatever address it listens on. `recall` needs no server.

All commands follow the same rules:

- Results go to standard output, everything else to standard error.
- With `--json`, standard output is exactly one JSON value; `recall watch` prints one per line.
- An error is a line `error: …` and, if there is something you can do about it, a line `hint: …`.

| Exit code | Meaning |
|---|---|
| 0 | done |
| 1 | refused, not found or failed |
| 2 | wrong usage, a setting or an address that can't be used, or no server |
| 130 | interrupted |

To complete commands with the Tab key, add `eval "$(navi completions bash)"` to `~/.bashrc`,
`eval "$(navi completions zsh)"` to `~/.zshrc`, or `navi completions fish | source` to
`~/.config/fish/config.fish`, and do the same for `recall` and `sm`.
"""


def main() -> None:
    for path, text in pages().items():
        path.write_text(text)


def pages() -> dict[Path, str]:
    """The text of every generated file."""
    return {
        REFERENCE / "settings.md": settings_page(),
        REFERENCE / "config.toml": config_file(),
        REFERENCE / "commands.md": commands_page(),
    }


def settings_page() -> str:
    parts = [SETTINGS_HEAD]
    for name, section in sections():
        rows = ["| Key | Type | Default | Environment | What it does |", "|---|---|---|---|---|"]
        rows += [_row(name, key, field) for key, field in section.model_fields.items()]
        parts.append(f"## `[{name}]`\n\n{inspect.getdoc(section)}\n\n" + "\n".join(rows) + "\n")
    return "\n".join([*parts, ENVIRONMENT])


def config_file() -> str:
    parts = [CONFIG_HEAD]
    for name, section in sections():
        lines = [f"# {inspect.getdoc(section)}", f"[{name}]"]
        for key, field in section.model_fields.items():
            lines += ["", *_comment(field), *_setting(name, key, field)]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def commands_page() -> str:
    return "\n".join([COMMANDS_HEAD, *_help(navi, None), *_help(recall, None), *_help(sm, None)])


def sections() -> Iterator[tuple[str, type[Section]]]:
    for name, field in settings_model().model_fields.items():
        section = field.annotation
        assert isinstance(section, type)
        assert issubclass(section, Section)
        yield name, section


def _row(section: str, key: str, field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True)
    cell = "none" if default is None else f"`{_toml(default)}`"
    if len(cell) > LONGEST_DEFAULT:
        cell = "see [config.toml](config.toml)"
    variable = f"`NAVI_{section}_{key}`".upper()
    return f"| `{key}` | {_type(field)} | {cell} | {variable} | {field.description} |"


def _type(field: FieldInfo) -> str:
    options = [each for each in get_args(field.annotation) if each is not type(None)]
    plain = "list of texts" if "list" in str(field.annotation) else None
    words = [plain or TYPES[options[0] if options else field.annotation]]  # type: ignore[index]
    for limit in field.metadata:
        words += [
            phrase.format(getattr(limit, name))
            for name, phrase in LIMITS.items()
            if hasattr(limit, name)
        ]
    return ", ".join(words)


def _comment(field: FieldInfo) -> list[str]:
    lines = textwrap.wrap(field.description or "", WIDTH)
    if field.get_default(call_default_factory=True) is None:
        lines.append("No default. For example:")
    return [f"# {line}" for line in lines]


def _setting(section: str, key: str, field: FieldInfo) -> list[str]:
    """The setting as TOML, commented out by a `#` without a space."""
    value = field.get_default(call_default_factory=True)
    if value is None:
        value = EXAMPLES[f"{section}.{key}"]
    line = f"{key} = {_toml(value)}"
    if len(line) > WIDTH and isinstance(value, str):
        line = f'{key} = """\n{_wrapped(value)}"""'
    return [f"#{part}" for part in line.split("\n")]


def _toml(value: Any) -> str:
    # Strings, numbers, booleans and lists of strings are the same in JSON and TOML.
    return json.dumps(value, ensure_ascii=False)


def _wrapped(text: str) -> str:
    """The inside of a multi-line TOML string; a `\\` joins a line with the next."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    lines = [" \\\n".join(textwrap.wrap(line, WIDTH)) for line in escaped.split("\n")]
    return "\n".join(lines)


def _help(command: click.Command, parent: click.Context | None) -> Iterator[str]:
    """The command's own help, then that of its subcommands."""
    context = click.Context(
        command,
        parent,
        info_name=command.name,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        **command.context_settings,
    )
    yield f"## `{context.command_path}`\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _help(inner, context)


if __name__ == "__main__":
    main()
