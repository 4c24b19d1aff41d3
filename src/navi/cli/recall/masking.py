"""Secrets never reach the screen."""

from __future__ import annotations

from typing import overload

from navi.domain import secrets


@overload
def mask(text: str) -> str: ...
@overload
def mask(text: None) -> None: ...
@overload
def mask(text: str | None) -> str | None: ...
def mask(text: str | None) -> str | None:
    return None if text is None else secrets.mask(text)
