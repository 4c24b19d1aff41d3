"""Two things of `typing` for what a short command imports. Type checkers see the real ones.

`typing` loads regular expressions, and its `NamedTuple` compiles code for each class: for ten
classes that takes as long as Python itself. The one here makes a class in the fewest steps; its
values take a little longer to make and to read.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
    from typing import overload as overload
else:
    from _operator import itemgetter  # `operator` itself takes longer than all of this

    class NamedTuple(tuple):
        __slots__ = ()

        def __init_subclass__(cls) -> None:
            fields = tuple(cls.__annotations__)
            cls._fields = fields
            cls._field_defaults = {name: vars(cls)[name] for name in fields if name in vars(cls)}
            for place, name in enumerate(fields):
                setattr(cls, name, property(itemgetter(place)))

        def __new__(cls, *values, **named):
            given = dict(zip(cls._fields, values, strict=False))
            if len(values) > len(given) or given.keys() & named.keys():
                raise TypeError(f"{cls.__name__} is given too much")
            given = {**cls._field_defaults, **given, **named}
            if given.keys() != set(cls._fields):
                raise TypeError(f"{cls.__name__} takes {', '.join(cls._fields)}")
            return tuple.__new__(cls, [given[name] for name in cls._fields])

        def __repr__(self) -> str:
            fields = (f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({', '.join(fields)})"

        def __getnewargs__(self):
            """For copies, and for other processes."""
            return tuple(self)

    def overload(function):
        return function
