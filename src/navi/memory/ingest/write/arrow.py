"""Columns handed to DuckDB without copying, through Arrow's C interface.

DuckDB reads any object with `__arrow_c_stream__`. Making one takes a few C structures, so that the
large Arrow library is not needed. See https://arrow.apache.org/docs/format/CStreamInterface.html.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any

Buffers = Sequence[bytes | None]
"""Of one column: which values are set (a bit each, None if all), then what its format wants."""

NULLABLE = 2
CAPSULE = b"arrow_array_stream"


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_ReleaseSchema = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))
_ReleaseArray = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))
_ReleaseStream = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))
_GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))
_GetNext = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))
_GetLastError = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Stream))

_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", _ReleaseSchema),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", _ReleaseArray),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", _GetSchema),
    ("get_next", _GetNext),
    ("get_last_error", _GetLastError),
    ("release", _ReleaseStream),
    ("private_data", ctypes.c_void_p),
]


# The memory belongs to the ArrowStream object. Being released only has to be noted.
def _let_schema_go(schema: Any) -> None:
    schema.contents.release = _ReleaseSchema()


def _let_array_go(array: Any) -> None:
    array.contents.release = _ReleaseArray()


def _let_stream_go(stream: Any) -> None:
    stream.contents.release = _ReleaseStream()


_release_schema = _ReleaseSchema(_let_schema_go)
_release_array = _ReleaseArray(_let_array_go)
_release_stream = _ReleaseStream(_let_stream_go)

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class ArrowStream:
    """A table of `(name, format)` columns in pieces, each its row count and a column's buffers.

    It can be read once, and has to be closed when the statement that reads it is done: its C
    functions and itself hold each other, and would hold the buffers until somebody cleans up.
    """

    def __init__(
        self, columns: Sequence[tuple[str, str]], pieces: Sequence[tuple[int, Sequence[Buffers]]]
    ) -> None:
        self._columns = columns
        self._pieces: Iterator[tuple[int, Sequence[Buffers]]] = iter(pieces)
        self._alive: list[Any] = []

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        stream = _Stream(
            _GetSchema(self._give_schema),
            _GetNext(self._give_next),
            _GetLastError(lambda _: None),
            _release_stream,
            None,
        )
        self._alive.append(stream)
        return _new_capsule(ctypes.addressof(stream), CAPSULE, None)

    def close(self) -> None:
        self._alive.clear()
        self._pieces = iter(())

    def _give_schema(self, _: Any, out: Any) -> int:
        children = []
        for name, kind in self._columns:
            child = _Schema(format=kind.encode(), name=name.encode(), flags=NULLABLE)
            child.release = _release_schema
            children.append(child)
        table = out.contents
        table.format, table.name, table.metadata, table.flags = b"+s", b"", None, 0
        table.n_children = len(children)
        table.children = self._pointers(_Schema, children)
        table.dictionary = None
        table.release = _release_schema
        return 0

    def _give_next(self, _: Any, out: Any) -> int:
        rows, columns = next(self._pieces, (0, ()))
        if not columns:
            out.contents.release = _ReleaseArray()
            return 0
        children = []
        for buffers in columns:
            child = _Array()
            self._fill(child, rows, buffers)
            children.append(child)
        self._fill(out.contents, rows, [None])
        out.contents.n_children = len(children)
        out.contents.children = self._pointers(_Array, children)
        return 0

    def _fill(self, array: Any, rows: int, buffers: Buffers) -> None:
        addresses = (ctypes.c_void_p * len(buffers))(*map(_address, buffers))
        self._alive.append((addresses, buffers))
        array.length = rows
        array.null_count = -1 if buffers[0] is not None else 0
        array.offset = 0
        array.n_buffers = len(buffers)
        array.buffers = addresses
        array.n_children = 0
        array.children = None
        array.dictionary = None
        array.release = _release_array

    def _pointers(self, kind: Any, structures: list[Any]) -> Any:
        pointers = (ctypes.POINTER(kind) * len(structures))(*map(ctypes.pointer, structures))
        self._alive.append((pointers, structures))
        return pointers


def _address(buffer: bytes | None) -> int | None:
    if buffer is None:
        return None
    return ctypes.cast(ctypes.c_char_p(buffer), ctypes.c_void_p).value
