"""What all measurements share: the home, its index, and a way to run `recall`."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.memory.home import BUILD, Home
from benchmarks.memory.process import RunResult, run

FOREIGN = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "NAVI_HOME", "NAVI_CONFIG", "RECALL_DB_PATH")
RECALL = Path(sys.executable).with_name("recall")


@dataclass(frozen=True, slots=True)
class Stage:
    home: Home
    data: Path
    """Where the index is."""
    rounds: int

    @property
    def database(self) -> Path:
        return self.data / "recall.duckdb"

    @property
    def environment(self) -> dict[str, str]:
        """A private home, index and settings, without anything of the user's own.

        PYTHONDONTWRITEBYTECODE is left out, because Python would compile modules for each command.
        """
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in FOREIGN and not name.startswith(("XDG_", "RECALL_", "PYTHON"))
        }
        data = str(self.data)
        return {**kept, "HOME": str(self.home.path), "RECALL_DATA_DIR": data, "LC_ALL": "C.UTF-8"}

    def recall(self, *words: str, is_watched: bool = False) -> RunResult:
        return run([RECALL, *words], self.environment, is_watched=is_watched)

    def forget(self) -> None:
        shutil.rmtree(self.data, ignore_errors=True)


def stage(home: Home, rounds: int) -> Stage:
    return Stage(home, BUILD / f"index-{home.megabytes}mb", rounds)
