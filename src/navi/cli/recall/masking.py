"""Secrets never reach the screen."""

from __future__ import annotations

from navi.base.secrets.masking import masked as mask

__all__ = ["mask"]
