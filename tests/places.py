"""Where things are in the checkout, from wherever a test is."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "corpus"
"""Files of other agents, as many versions of them wrote them."""
