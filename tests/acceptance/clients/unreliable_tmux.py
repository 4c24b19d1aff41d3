"""A tmux that loses keys and fails, as on an overloaded machine."""

from __future__ import annotations

import shutil
from pathlib import Path

SCRIPT = """\
#!/bin/sh
faults={faults}
case "$*" in
  *" list-panes "*)
    if [ -e "$faults/slow" ]; then sleep 1; fi;;
  *" send-keys "*" Escape")
    if rm "$faults/refuse" 2>/dev/null; then echo "try again" >&2; exit 1; fi
    if [ -e "$faults/no-escape" ] || rm "$faults/escape" 2>/dev/null; then exit 0; fi;;
  *" send-keys "*" Enter")
    if rm "$faults/enter" 2>/dev/null; then
      for argument do
        shift
        case "$argument" in "send-keys "*) argument="set-option -g @lost Enter";; esac
        set -- "$@" "$argument"
      done
    fi;;
esac
exec {tmux} "$@"
"""


class UnreliableTmux:
    """`fault` is one of:

    - `escape`, `enter`: the next one is lost
    - `no-escape`: all are lost
    - `refuse`: tmux refuses to press the next Escape
    - `slow`: every look at the pane takes a second
    """

    def __init__(self, programs: Path, faults: Path) -> None:
        faults.mkdir()
        self._faults = faults
        program = programs / "tmux"
        program.write_text(SCRIPT.format(faults=faults, tmux=shutil.which("tmux")))
        program.chmod(0o755)

    def plant(self, fault: str) -> None:
        (self._faults / fault).touch()

    def repair(self, fault: str) -> None:
        (self._faults / fault).unlink()

    def has_struck(self, fault: str) -> bool:
        return not (self._faults / fault).exists()
