"""Paths in the checkout."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "corpus"
"""Session files that many versions of other agents wrote."""
