"""Where the installed model is, and what is in it. Imports nothing slow."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from navi.memory.index_paths import IndexPaths

MODEL, TOKENIZER, DESCRIPTION = "model.onnx", "tokenizer.json", "model.json"
CONVERSION_VERSION = 1
"""Increase it when the conversion changes the vectors. They are then made again."""


@dataclass(frozen=True, slots=True)
class InstalledModel:
    folder: Path
    name: str
    dimensions: int
    origin: str
    """Where the weights came from, for people."""
    sha256: str
    """Of the weights."""
    conversion: int = CONVERSION_VERSION

    @property
    def vectors_name(self) -> str:
        """Different for models whose vectors can't be compared."""
        return f"{self.name}/{self.sha256[:12]}/int8-{self.conversion}"

    @property
    def bytes(self) -> int:
        return sum(path.stat().st_size for path in self.folder.iterdir() if path.is_file())


def model_folder(paths: IndexPaths) -> Path:
    return paths.models / "model"


def installed_model(paths: IndexPaths) -> InstalledModel | None:
    """The model, if one is installed. Its description is written last, so it is complete."""
    folder = model_folder(paths)
    try:
        values = json.loads((folder / DESCRIPTION).read_bytes())
        return InstalledModel(folder, **values)
    except (FileNotFoundError, NotADirectoryError, ValueError, TypeError):
        return None


def describe(folder: Path, model: InstalledModel) -> None:
    values = asdict(model)
    del values["folder"]
    (folder / DESCRIPTION).write_text(json.dumps(values, indent=2) + "\n")


def remove_model(paths: IndexPaths) -> InstalledModel | None:
    """Remove the model and leftovers of interrupted installations. Returns the removed model."""
    model = installed_model(paths)
    if paths.models.exists():
        shutil.rmtree(paths.models)
    return model
