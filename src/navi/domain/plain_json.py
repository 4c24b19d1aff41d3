"""JSON for what a short command reads and prints, the same as Python's own module has it.

That module loads regular expressions, and has no use for them where its parts in C are at hand.
Together they cost 9 ms, nearly as much as Python itself. So these parts are used here without it;
whatever is out of the ordinary is still left to the module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Rules:
    """What the reading part asks for: the values of `json.JSONDecoder`."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int = float, int
    parse_constant = float  # of `NaN` and `Infinity`


try:
    from _json import encode_basestring, make_scanner

    _scan = make_scanner(_Rules())  # type: ignore[arg-type]
except (ImportError, AttributeError):  # another Python, with other parts
    _scan = None  # type: ignore[assignment]


def loads(text: str) -> Any:
    if _scan is not None:
        try:
            value, end = _scan(text, 0)
            if end == len(text):
                return value
        except StopIteration:
            pass
    import json

    return json.loads(text)


def dumps(value: Any) -> str:
    """With an indent of two, and every character as it is."""
    if _scan is not None:
        try:
            return _written(value, "\n")
        except TypeError:
            pass
    import json

    return json.dumps(value, indent=2, ensure_ascii=False)


def _written(value: Any, line: str) -> str:
    """`line` is the end of a line and the indent of the next one."""
    kind = type(value)
    if kind is str:
        return encode_basestring(value)
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is int or (kind is float and value - value == 0):  # neither infinite nor no number
        return repr(value)
    inner = line + "  "
    if kind is list:
        items = [_written(each, inner) for each in value]
        return f"[{inner}{f',{inner}'.join(items)}{line}]" if items else "[]"
    if kind is dict:
        # A name that is no text is a TypeError too.
        items = [f"{encode_basestring(name)}: {_written(value[name], inner)}" for name in value]
        return f"{{{inner}{f',{inner}'.join(items)}{line}}}" if items else "{}"
    raise TypeError(kind)
