from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from navi.live.agents.terminal.keystrokes import (
    INTERRUPT_SECONDS,
    SUBMIT_SECONDS,
    Interruption,
    Key,
    Observation,
    Submission,
    Verdict,
)
from navi.live.agents.terminal.transcript_tail import AgentState

WORKING = Observation(AgentState.BUSY, has_begun=True)
ASKING = Observation(AgentState.ASKING, has_begun=True)
ENDED = Observation(AgentState.IDLE, has_begun=True, has_ended=True)
SILENT = Observation(AgentState.IDLE, has_begun=True)
PUT_BACK = Observation(AgentState.IDLE, has_begun=True, is_prompt_in_composer=True)
UNSENT = Observation(AgentState.IDLE, is_prompt_in_composer=True)
EMPTY = Observation(AgentState.IDLE)
LOOK = 0.1


def interrupted(
    see: Callable[[float, list[Key]], Observation],
) -> tuple[Verdict, float, list[tuple[float, Key]]]:
    """How and when it ends, and the keys it pressed; `see` returns the screen of each look."""
    interruption = Interruption(0.0)
    pressed: list[tuple[float, Key]] = []
    for look in range(10_000):
        now = round(look * LOOK, 1)
        decision = interruption.decide(see(now, [key for _, key in pressed]), now)
        if isinstance(decision, Key):
            interruption.record_press(decision, now)
            pressed.append((now, decision))
        elif decision is not Verdict.WAIT:
            return decision, now, pressed
    raise AssertionError("it never ends")


def test_a_working_agent_gets_one_escape_and_is_done_when_its_record_says_so() -> None:
    verdict, at, keys = interrupted(lambda now, _: ENDED if now >= 1.0 else WORKING)
    assert (verdict, at, keys) == (Verdict.DONE, 1.0, [(0.0, Key.ESCAPE)])


def test_a_turn_that_ended_by_itself_gets_no_key() -> None:
    assert interrupted(lambda *_: ENDED) == (Verdict.DONE, 0.0, [])


def test_an_agent_that_asks_is_interrupted_too() -> None:
    _, _, keys = interrupted(lambda _, pressed: ENDED if pressed else ASKING)
    assert keys == [(0.0, Key.ESCAPE)]


def test_an_escape_is_repeated_ever_more_rarely_until_the_agent_is_given_up() -> None:
    verdict, at, keys = interrupted(lambda *_: WORKING)
    assert (verdict, at) == (Verdict.GIVE_UP, INTERRUPT_SECONDS)
    assert keys == [(at, Key.ESCAPE) for at in (0.0, 3.0, 9.0, 21.0)]


def test_no_key_follows_one_that_the_agent_has_not_read() -> None:
    unread = Observation(AgentState.BUSY, has_begun=True, has_unread_keys=True)
    _, _, keys = interrupted(lambda _, pressed: unread if pressed else WORKING)
    assert keys == [(0.0, Key.ESCAPE)]


def test_an_idle_agent_gets_no_escape() -> None:
    verdict, _, keys = interrupted(lambda *_: EMPTY)
    assert (verdict, keys) == (Verdict.GIVE_UP, [])


def test_an_agent_that_is_idle_for_a_while_is_done_without_a_record_of_its_end() -> None:
    verdict, at, keys = interrupted(lambda _, pressed: SILENT if pressed else WORKING)
    assert (verdict, at, keys) == (Verdict.DONE, 1.1, [(0.0, Key.ESCAPE)])


def test_a_prompt_that_the_agent_put_back_is_taken_out() -> None:
    def see(_: float, pressed: list[Key]) -> Observation:
        return SILENT if Key.CLEAR in pressed else PUT_BACK if pressed else WORKING

    verdict, _, keys = interrupted(see)
    assert (verdict, [key for _, key in keys]) == (Verdict.DONE, [Key.ESCAPE, Key.CLEAR])


def test_a_prompt_whose_enter_is_on_its_way_is_interrupted_and_not_taken_out() -> None:
    def see(now: float, pressed: list[Key]) -> Observation:
        return UNSENT if now < 0.8 else ENDED if pressed else WORKING

    verdict, _, keys = interrupted(see)
    assert (verdict, keys) == (Verdict.DONE, [(0.8, Key.ESCAPE)])


def test_a_prompt_whose_enter_is_lost_is_taken_out() -> None:
    verdict, at, keys = interrupted(lambda _, pressed: EMPTY if pressed else UNSENT)
    assert (verdict, at, keys) == (Verdict.DONE, 3.1, [(3.0, Key.CLEAR)])


def test_ctrl_c_is_not_pressed_twice_in_a_row() -> None:
    _, _, keys = interrupted(lambda *_: UNSENT)
    moments = [at for at, _ in keys]
    assert all(later - at >= 3.0 for at, later in pairwise(moments))


def test_an_agent_that_says_nothing_of_itself_gets_no_key() -> None:
    verdict, _, keys = interrupted(lambda *_: Observation(AgentState.UNKNOWN))
    assert (verdict, keys) == (Verdict.GIVE_UP, [])


def submitted(see: Callable[[float, int], Observation]) -> tuple[Verdict, list[float]]:
    """How it ends, and when it pressed Enter; `see` returns the screen of each look."""
    submission = Submission(0.0)
    presses: list[float] = []
    for look in range(10_000):
        now = round(look * LOOK, 1)
        decision = submission.decide(see(now, len(presses)), now, LOOK)
        if isinstance(decision, Key):
            assert decision is Key.ENTER
            submission.record_press(now)
            presses.append(now)
        elif decision is not Verdict.WAIT:
            return decision, presses
    raise AssertionError("it never ends")


def test_a_prompt_that_arrives_gets_no_second_enter() -> None:
    assert submitted(lambda now, _: WORKING if now > 1.0 else UNSENT) == (Verdict.DONE, [])


def test_enter_is_pressed_again_while_the_prompt_stands_in_the_composer() -> None:
    verdict, presses = submitted(lambda _, count: WORKING if count == 2 else UNSENT)
    assert (verdict, presses) == (Verdict.DONE, [3.0, 6.0])


def test_enter_is_not_pressed_into_an_empty_composer() -> None:
    assert submitted(lambda *_: EMPTY) == (Verdict.GIVE_UP, [])


def test_enter_is_not_pressed_while_the_agent_works() -> None:
    busy = Observation(AgentState.BUSY, is_prompt_in_composer=True)
    verdict, presses = submitted(lambda now, _: WORKING if now > 100.0 else busy)
    assert (verdict, presses) == (Verdict.DONE, [])


def test_a_prompt_that_the_agent_holds_back_is_waited_for() -> None:
    verdict, _ = submitted(lambda now, _: WORKING if now > 2 * SUBMIT_SECONDS else EMPTY)
    assert verdict is Verdict.DONE


def test_a_prompt_that_never_arrives_is_given_up() -> None:
    verdict, presses = submitted(lambda *_: UNSENT)
    assert verdict is Verdict.GIVE_UP
    assert SUBMIT_SECONDS - 4.0 < presses[-1] < SUBMIT_SECONDS
