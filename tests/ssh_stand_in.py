"""An `ssh` on the PATH that runs the command in another home of this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path

SCRIPT = """#!/bin/sh
[ "$1 $2" = "-T --" ] || exit 255
echo $$ > {folder}/$3.pid
cd {folder}/$3 2>/dev/null || {{ echo "ssh: unknown host $3" >&2; exit 255; }}
HOME={folder}/$3 exec sh -c "$4"
"""


def environment(folder: Path, host: str) -> dict[str, str]:
    """The environment of a process on `host`, whose home is `folder/host`."""
    programs = folder / "bin"
    if not programs.exists():
        programs.mkdir()
        ssh = programs / "ssh"
        ssh.write_text(SCRIPT.format(folder=folder))
        ssh.chmod(0o755)
        recall = programs / "recall"
        recall.write_text(f'#!/bin/sh\nexec {sys.executable} -m navi.cli.recall.main "$@"\n')
        recall.chmod(0o755)
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("XDG_")},
        "HOME": str(folder / host),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "NAVI_HOME": str(folder / host / ".navi"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
