from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navi.base.errors import InvalidInput, TooLarge
from navi.live.model.input import (
    TEXT_LIMIT_BYTES,
    DeliveryMode,
    Input,
    Origin,
    delivery_order,
    is_command,
    joined_with,
    may_join,
    modes_before,
    require_text,
)


def waiting(ordinal: int, mode: DeliveryMode = DeliveryMode.SEQUENTIAL) -> Input:
    return Input(
        id=f"input-{ordinal}", session_id="s", text="t", delivery_mode=mode, ordinal=ordinal
    )


def test_inputs_of_one_mode_go_in_the_order_of_admission() -> None:
    order = delivery_order([waiting(3), waiting(1), waiting(2)])
    assert [each.ordinal for each in order] == [1, 2, 3]


def test_important_overtakes_sequential_and_urgent_overtakes_both() -> None:
    queue = [
        waiting(1),
        waiting(2, DeliveryMode.IMPORTANT),
        waiting(3, DeliveryMode.URGENT),
        waiting(4, DeliveryMode.IMPORTANT),
    ]
    assert [each.ordinal for each in delivery_order(queue)] == [3, 2, 4, 1]


@given(st.lists(st.sampled_from(list(DeliveryMode)), max_size=30))
def test_nobody_waits_behind_a_lower_mode_or_a_later_equal(modes: list[DeliveryMode]) -> None:
    order = delivery_order([waiting(number, mode) for number, mode in enumerate(modes)])

    for earlier, later in pairwise(order):
        assert later.delivery_mode not in modes_before(earlier.delivery_mode)
        if earlier.delivery_mode is later.delivery_mode:
            assert earlier.ordinal < later.ordinal


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_a_blank_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="blank"):
        require_text(text)


@pytest.mark.parametrize("text", ["a\x00b", "half \ud83d pair"])
def test_a_text_no_database_can_hold_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        require_text(text)


def test_the_size_limit_counts_bytes_not_characters() -> None:
    assert require_text("x" * TEXT_LIMIT_BYTES)
    with pytest.raises(TooLarge):
        require_text("é" * (TEXT_LIMIT_BYTES // 2 + 1))


@pytest.mark.parametrize("text", ["/compact", " /clear", "/model opus", "/mcp:tool-x now\nplease"])
def test_a_slash_command_is_known_by_its_first_word(text: str) -> None:
    assert is_command(text)


@pytest.mark.parametrize("text", ["/tmp/build.log is red", "see /compact", "/", "// no", "1/2"])
def test_a_path_or_a_slash_inside_a_text_is_not_a_command(text: str) -> None:
    assert not is_command(text)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(list(DeliveryMode)),
            st.sampled_from(list(Origin)),
            st.sampled_from(["text", "/compact"]),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_whatever_waits_joining_loses_nothing_and_keeps_every_order(
    kinds: list[tuple[DeliveryMode, Origin, str]],
) -> None:
    left = [
        # Every reminder's text begins with `[sm remind]`.
        Input(
            id=f"{at}",
            session_id="s",
            text="text" if origin is Origin.REMINDER else text,
            delivery_mode=mode,
            origin=origin,
            ordinal=at,
        )
        for at, (mode, origin, text) in enumerate(kinds)
    ]
    delivered: list[Input] = []
    while left:
        first, *others = delivery_order(left)
        turn = [first, *(joined_with(first, others) if may_join(first) else [])]
        assert len(turn) == 1 or all(may_join(each) for each in turn)
        delivered += turn
        left = [each for each in left if each not in turn]
    assert len({each.id for each in delivered}) == len(delivered) == len(kinds)
    for mode in DeliveryMode:
        for origin in Origin:
            same = [e for e in delivered if (e.delivery_mode, e.origin) == (mode, origin)]
            assert [e.ordinal for e in same] == sorted(e.ordinal for e in same)
