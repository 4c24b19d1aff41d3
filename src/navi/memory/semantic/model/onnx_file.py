"""Writes an ONNX file: a few nested records in protobuf's format.

The package `onnx` could do this, but takes 22 MB and would be needed only once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

IR_VERSION = 8
OPSET = 17
OPSETS = {"": OPSET, "com.microsoft": 1}
"""By domain. The operators of `com.microsoft` come with onnxruntime."""
ELEMENT_TYPES = {"float32": 1, "int8": 3, "int32": 6, "int64": 7}
FLOAT_ATTRIBUTE, INTEGER_ATTRIBUTE, INTEGERS_ATTRIBUTE = 1, 2, 7


@dataclass(slots=True)
class Graph:
    """Operations in the order in which they run, and the arrays that they use."""

    inputs: Mapping[str, str]
    """Element types by name. Inputs have two dimensions, of any size."""
    outputs: Mapping[str, str]
    """The same; outputs have three dimensions."""
    _nodes: list[bytes] = field(default_factory=list)
    _arrays: list[bytes] = field(default_factory=list)
    _names: int = 0

    def array(self, values: np.ndarray[Any, Any]) -> str:
        """Adds an array, and returns its name."""
        name = self._name()
        self._arrays.append(
            b"".join(_integer(1, size) for size in values.shape)
            + _integer(2, ELEMENT_TYPES[values.dtype.name])
            + _text(8, name)
            + _bytes(9, np.ascontiguousarray(values).tobytes())
        )
        return name

    def add(
        self,
        operator: str,
        *inputs: str,
        domain: str = "",
        output: str | None = None,
        **attributes: float | Sequence[int],
    ) -> str:
        """Adds an operation with one output, and returns the output's name."""
        return self.split(
            operator, *inputs, domain=domain, outputs=[output or self._name()], **attributes
        )[0]

    def split(
        self,
        operator: str,
        *inputs: str,
        domain: str = "",
        outputs: Sequence[str] | int,
        **attributes: float | Sequence[int],
    ) -> list[str]:
        """Adds an operation with several outputs, and returns their names."""
        names = [self._name() for _ in range(outputs)] if isinstance(outputs, int) else [*outputs]
        self._nodes.append(
            b"".join(_text(1, name) for name in inputs)
            + b"".join(_text(2, name) for name in names)
            + _text(4, operator)
            + b"".join(_bytes(5, _attribute(*each)) for each in attributes.items())
            + _text(7, domain)
        )
        return names

    def encode(self) -> bytes:
        """The file's contents."""
        graph = (
            b"".join(_bytes(1, node) for node in self._nodes)
            + _text(2, "model")
            + b"".join(_bytes(5, array) for array in self._arrays)
            + b"".join(_bytes(11, _value(*each, 2)) for each in self.inputs.items())
            + b"".join(_bytes(12, _value(*each, 3)) for each in self.outputs.items())
        )
        opsets = (_text(1, domain) + _integer(2, version) for domain, version in OPSETS.items())
        return (
            _integer(1, IR_VERSION)
            + b"".join(_bytes(8, opset) for opset in opsets)
            + _bytes(7, graph)
        )

    def _name(self) -> str:
        self._names += 1
        return f"v{self._names}"


def _value(name: str, element_type: str, dimensions: int) -> bytes:
    """The description of an input or output."""
    sizes = b"".join(_bytes(1, _text(2, f"{name}_{each}")) for each in range(dimensions))
    tensor = _integer(1, ELEMENT_TYPES[element_type]) + _bytes(2, sizes)
    return _text(1, name) + _bytes(2, _bytes(1, tensor))


def _attribute(name: str, value: float | Sequence[int]) -> bytes:
    if isinstance(value, int):
        return _text(1, name) + _integer(3, value) + _integer(20, INTEGER_ATTRIBUTE)
    if isinstance(value, float):
        number = _varint(2 << 3 | 5) + np.float32(value).tobytes()
        return _text(1, name) + number + _integer(20, FLOAT_ATTRIBUTE)
    numbers = b"".join(_integer(8, each) for each in value)
    return _text(1, name) + numbers + _integer(20, INTEGERS_ATTRIBUTE)


def _integer(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value & (1 << 64) - 1)


def _text(number: int, value: str) -> bytes:
    return _bytes(number, value.encode())


def _bytes(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    """Seven bits to a byte, the lowest first."""
    result = bytearray()
    while value > 0x7F:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)
