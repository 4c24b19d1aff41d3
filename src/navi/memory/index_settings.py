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
"""Raise it when documents or words change: the full-text index is then rebuilt."""


def searchable_fields(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    value = environment.get("RECALL_FTS_FIELDS")
    if value is not None:
        fields = [field.strip() for field in value.split(",") if field.strip()]
        return _validated(fields, "RECALL_FTS_FIELDS")
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
            return _validated(section["fields"], f"[fts] fields in {path}")
    return FIELDS


def full_text_format(fields: tuple[str, ...]) -> str:
    """Identifies the format of a full-text index; one in another format is rebuilt."""
    return f"{TEXTS_VERSION} {','.join(fields)}"


def _validated(fields: Any, setting: str) -> tuple[str, ...]:
    if not isinstance(fields, list) or not fields or not set(fields) <= set(FIELDS):
        raise UsageError(
            f"{setting} must be a list of searchable fields",
            hint=f"choose from: {', '.join(FIELDS)}",
        )
    return tuple(field for field in FIELDS if field in fields)
