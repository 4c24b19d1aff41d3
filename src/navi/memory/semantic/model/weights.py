"""Reads weights in the format `safetensors`: a JSON header, then the arrays one after another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

HEADER_LENGTH_BYTES = 8
LONGEST_HEADER = 1 << 24

Weights = dict[str, "np.ndarray[Any, Any]"]


def read_weights(path: Path) -> Weights:
    """The arrays of 32-bit numbers, by name. The others are not weights."""
    data = np.memmap(path, np.uint8, "r")
    length = int.from_bytes(data[:HEADER_LENGTH_BYTES].tobytes(), "little")
    if length > min(LONGEST_HEADER, len(data)):
        raise ValueError("it has no valid header")
    start = HEADER_LENGTH_BYTES + length
    header = json.loads(data[HEADER_LENGTH_BYTES:start].tobytes())
    weights: Weights = {}
    for name, array in header.items():
        if name != "__metadata__" and array["dtype"] == "F32":
            first, end = array["data_offsets"]
            weights[name] = data[start + first : start + end].view("<f4").reshape(array["shape"])
    return weights
