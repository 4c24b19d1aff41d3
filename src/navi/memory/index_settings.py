"""The memory's settings, each from an environment variable or else from a settings file.

`RECALL_FTS_FIELDS` or `[fts] fields` say which texts are searchable.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from typing import Any

from navi.base.errors import UsageError
from navi.memory.index_paths import settings_files

FIELDS = ("content", "thinking", "bash", "file", "output")
TEXTS_VERSION = 8
"""Increase it when you change how texts become documents or words: old indexes are then rebuilt."""


def searchable_fields(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    value, name = setting("RECALL_FTS_FIELDS", "fts", "fields", environment)
    if value is None:
        return FIELDS
    if name == "RECALL_FTS_FIELDS":
        value = [field.strip() for field in value.split(",") if field.strip()]
    return _validated(value, name)


def setting(
    variable: str, section: str, key: str, environment: Mapping[str, str] = os.environ
) -> tuple[Any, str]:
    """A setting from its variable, else from the first settings file that has it, and its name.

    The value is None if it is not set.
    """
    if (value := environment.get(variable)) is not None:
        return value, variable
    for path in settings_files(environment):
        try:
            values: Any = tomllib.loads(path.read_text()).get(section, {})
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise UsageError(
                f"can't read {path}: {error}", hint="correct the file or remove it"
            ) from error
        if isinstance(values, dict) and key in values:
            return values[key], f"[{section}] {key} in {path}"
    return None, ""


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
