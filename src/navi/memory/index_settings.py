"""Which texts are searchable: `RECALL_FTS_FIELDS`, else `[fts] fields` in a settings file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from typing import Any

from navi.base.errors import UsageError
from navi.memory.index_paths import settings_files

FIELDS = ("content", "thinking", "bash", "file")
TEXTS_VERSION = 5
"""Raised when documents or words are made differently: the full-text is then made anew."""


def searchable_fields(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    named = environment.get("RECALL_FTS_FIELDS")
    if named is not None:
        chosen = [field.strip() for field in named.split(",") if field.strip()]
        return _checked(chosen, "RECALL_FTS_FIELDS")
    for path in settings_files(environment):
        try:
            section: Any = tomllib.loads(path.read_text()).get("fts", {})
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise UsageError(
                f"can't read {path}: {error}", hint="correct the file or remove it"
            ) from error
        if isinstance(section, dict) and "fields" in section:
            return _checked(section["fields"], f"[fts] fields in {path}")
    return FIELDS


def texts_made_of(fields: tuple[str, ...]) -> str:
    """How the full-text is made; one that was made otherwise does not serve."""
    return f"{TEXTS_VERSION} {','.join(fields)}"


def _checked(chosen: Any, where: str) -> tuple[str, ...]:
    if not isinstance(chosen, list) or not chosen or not set(chosen) <= set(FIELDS):
        raise UsageError(
            f"{where} names a field that can't be searched",
            hint=f"choose from: {', '.join(FIELDS)}",
        )
    return tuple(field for field in FIELDS if field in chosen)
