"""`recall init`: a script that binds a key to the picker."""

from __future__ import annotations

import re

import click

from navi.base.errors import UsageError
from navi.cli import output

DEFAULT_KEY = "alt-r"
_KEY = re.compile(r"(alt|ctrl)-([a-z])", re.IGNORECASE)

# The picker searches for the text on the command line. The command that resumes the chosen session
# replaces that text and is not run, so that people can read it before they press Enter.
BASH = """\
__recall_pick() {{
  local id line
  id="$(recall pick --print -- "$READLINE_LINE")" || return 0
  line="$(recall resume "$id")" || return 0
  READLINE_LINE="$line"
  READLINE_POINT=${{#READLINE_LINE}}
}}
if [[ $- == *i* ]]; then
  bind -m emacs-standard -x '"{key}": __recall_pick'
  bind -m vi-insert -x '"{key}": __recall_pick'
  bind -m vi-command -x '"{key}": __recall_pick'
fi"""
ZSH = """\
__recall_pick() {{
  local id line
  zle -I
  if id="$(recall pick --print -- "$BUFFER" </dev/tty)" && line="$(recall resume "$id")"; then
    BUFFER="$line"
    CURSOR=$#BUFFER
  fi
  zle reset-prompt
}}
zle -N __recall_pick
bindkey -M emacs '{key}' __recall_pick
bindkey -M viins '{key}' __recall_pick
bindkey -M vicmd '{key}' __recall_pick"""
FISH = """\
function __recall_pick
    set -l words (commandline | string collect)
    if set -l id (recall pick --print -- $words)
        if set -l line (recall resume $id | string collect)
            commandline --replace -- $line
        end
    end
    commandline -f repaint
end
bind {key} __recall_pick
bind -M insert {key} __recall_pick"""
SNIPPETS = {"bash": BASH, "zsh": ZSH, "fish": FISH}
CODES = {
    "bash": {"alt": r"\e{}", "ctrl": r"\C-{}"},
    "zsh": {"alt": "^[{}", "ctrl": "^{}"},
    "fish": {"alt": r"\e{}", "ctrl": r"\c{}"},
}
"""How each shell writes a key."""


@click.command(
    "init",
    epilog="\b\nAdd one of these lines to your shell's startup file:\n"
    '  bash  eval "$(recall init bash)"     in ~/.bashrc\n'
    '  zsh   eval "$(recall init zsh)"      in ~/.zshrc\n'
    "  fish  recall init fish | source      in ~/.config/fish/config.fish",
)
@click.argument("shell", type=click.Choice(list(SNIPPETS)))
@click.option(
    "--key",
    metavar="KEY",
    default=DEFAULT_KEY,
    show_default=True,
    help="The key: alt- or ctrl- and a letter.",
)
def command(shell: str, key: str) -> None:
    """Print a script that binds a key to the picker.

    The picker searches for the text on your command line. The command that resumes the chosen
    session then replaces that text; it is not run.
    """
    match = _KEY.fullmatch(key)
    if match is None:
        raise UsageError(f"{key!r} is not a key", hint="write alt-r or ctrl-g")
    modifier, letter = match[1].lower(), match[2].lower()
    output.say(SNIPPETS[shell].format(key=CODES[shell][modifier].format(letter)))
