"""The prompts of scheduled turns: named, versioned templates.

A template's text never changes; a better wording is a new version. The transcript keeps the
template's name, version and the digest of the rendered text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from string import Template
from typing import Any


@dataclass(frozen=True, slots=True)
class Prompt:
    id: str
    version: int
    text: str

    @property
    def reference(self) -> dict[str, Any]:
        digest = hashlib.sha256(self.text.encode()).hexdigest()
        return {"id": self.id, "version": self.version, "sha256": digest}


def render(id_: str, version: int, variables: Mapping[str, str]) -> Prompt:
    """This version of the template `id_`, with its variables filled in."""
    return Prompt(id_, version, _template(id_, version).substitute(variables))


@cache
def _template(id_: str, version: int) -> Template:
    file = resources.files(__package__) / f"{id_}.v{version}.txt"
    return Template(file.read_text())
