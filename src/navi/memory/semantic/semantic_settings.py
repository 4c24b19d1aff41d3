"""`[semantic]` in the settings file, or a variable such as `RECALL_SEMANTIC_ALPHA`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from navi.base.errors import UsageError
from navi.memory.index_settings import setting

SECTION = "semantic"
DEFAULT_ALPHA = 0.5
"""The vectors' share of the score. Measured: see docs/decisions/0025."""
ENDPOINT_MODEL = "text-embedding-3-small"
ENDPOINT_DIMENSIONS = 1536
MOST_DIMENSIONS = 8192
OFF = ("0", "false", "no", "off")
ON = ("1", "true", "yes", "on")


@dataclass(frozen=True, slots=True)
class SemanticSettings:
    is_enabled: bool = True
    alpha: float = DEFAULT_ALPHA
    url: str | None = None
    """The address of an endpoint with OpenAI's API, up to `/v1`. None for the installed model."""
    model: str = ENDPOINT_MODEL
    dimensions: int = ENDPOINT_DIMENSIONS
    key_env: str = "OPENAI_API_KEY"
    """The environment variable with the endpoint's key."""


def semantic_settings(environment: Mapping[str, str] = os.environ) -> SemanticSettings:
    defaults = SemanticSettings()
    return SemanticSettings(
        _switch("enabled", environment, defaults.is_enabled),
        alpha_of(*_value("alpha", environment, defaults.alpha)),
        _text("url", environment, defaults.url),
        _text("model", environment, defaults.model) or defaults.model,
        _dimensions(environment, defaults.dimensions),
        _text("key_env", environment, defaults.key_env) or defaults.key_env,
    )


def alpha_of(value: Any, name: str) -> float:
    """A share from 0 (only words) to 1 (only meaning)."""
    try:
        alpha = float(value)
    except (TypeError, ValueError):
        alpha = -1.0
    if not 0 <= alpha <= 1:
        raise UsageError(f"{name} must be a number from 0 to 1", hint="0.5 is the default")
    return alpha


def _value(key: str, environment: Mapping[str, str], default: Any) -> tuple[Any, str]:
    value, name = setting(f"RECALL_SEMANTIC_{key.upper()}", SECTION, key, environment)
    return (default, key) if value is None else (value, name)


def _switch(key: str, environment: Mapping[str, str], default: bool) -> bool:
    value, name = _value(key, environment, default)
    text = str(value).lower()
    if text not in ON + OFF:
        raise UsageError(f"{name} must be true or false", hint="correct the setting")
    return text in ON


def _text(key: str, environment: Mapping[str, str], default: str | None) -> str | None:
    value, name = _value(key, environment, default)
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{name} must be a string in quotes", hint="correct the setting")
    return value or None


def _dimensions(environment: Mapping[str, str], default: int) -> int:
    value, name = _value("dimensions", environment, default)
    try:
        dimensions = int(value)
    except (TypeError, ValueError):
        dimensions = 0
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        raise UsageError(
            f"{name} must be a number from 1 to {MOST_DIMENSIONS}",
            hint="use the length of the model's vectors",
        )
    return dimensions
