"""Secrets never reach the screen."""

from __future__ import annotations

from navi.domain.secrets import masked as mask

__all__ = ["mask"]
