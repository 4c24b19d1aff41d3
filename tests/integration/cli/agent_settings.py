"""A person's settings of Claude Code and Codex, and a runner of `navi setup`."""

from __future__ import annotations

from pathlib import Path

from tests.integration.cli.command_runs import Finished, navi

SETTINGS = """\
{
    "model": "opus",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]
    },
    "permissions": {"allow": ["Bash(git status:*)"]}
}"""


CONFIG = 'model = "gpt-5"  # my favourite\n\n[tui]\nshow_tooltips = false'


FILES = {
    "claude-code": (".claude/settings.json", ".claude.json"),
    "codex": (".codex/hooks.json", ".codex/config.toml"),
}


def setup(*arguments: str, **environment: str) -> Finished:
    return navi("setup", *arguments, **environment)


def write_files(home: Path, agent: str) -> dict[Path, bytes]:
    texts = {
        ".claude/settings.json": SETTINGS,
        ".claude.json": '{\n  "numStartups": 3,\n  "mcpServers": {"mine": {"command": "x"}}\n}\n',
        ".codex/hooks.json": SETTINGS,
        ".codex/config.toml": CONFIG,
    }
    paths = [home / name for name in FILES[agent]]
    for path, name in zip(paths, FILES[agent], strict=True):
        path.parent.mkdir(exist_ok=True)
        path.write_text(texts[name])
    return {path: path.read_bytes() for path in paths}
