"""The light `NamedTuple` is used like the real one."""

from __future__ import annotations

import copy
import pickle
import typing
from collections.abc import Callable
from typing import Any

import pytest

from navi.domain import light_typing


class Light(light_typing.NamedTuple):
    number: int
    name: str | None = None
    """Said about the field."""
    is_new: bool = False

    @property
    def loud(self) -> str:
        return (self.name or "").upper()


class Real(typing.NamedTuple):
    number: int
    name: str | None = None
    is_new: bool = False


MAKE: list[Callable[[Any], Any]] = [
    lambda kind: kind(1),
    lambda kind: kind(1, "a", True),
    lambda kind: kind(1, is_new=True),
    lambda kind: kind(name="a", number=1),
]


@pytest.mark.parametrize("make", MAKE)
def test_values_are_those_of_the_real_one(make: Callable[[Any], Any]) -> None:
    light, real = make(Light), make(Real)
    assert tuple(light) == real
    assert (light.number, light.name, light.is_new) == (real.number, real.name, real.is_new)
    assert light._fields == real._fields
    assert repr(light).removeprefix("Light") == repr(real).removeprefix("Real")
    assert {light: 1}[make(Light)] == 1
    assert light.loud == ("A" if real.name else "")


@pytest.mark.parametrize(
    "make",
    [
        lambda kind: kind(),
        lambda kind: kind(1, "a", True, 4),
        lambda kind: kind(1, number=2),
        lambda kind: kind(1, other=2),
    ],
)
def test_what_the_real_one_refuses_is_refused(make: Callable[[Any], Any]) -> None:
    for kind in (Light, Real):
        with pytest.raises(TypeError):
            make(kind)


def test_a_value_is_copied_and_sent_to_other_processes() -> None:
    value = Light(1, "a")
    for same in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert same == value
        assert type(same) is Light


def test_a_value_can_not_be_changed() -> None:
    with pytest.raises(AttributeError):
        Light(1).number = 2  # type: ignore[misc]
