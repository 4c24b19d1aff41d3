from __future__ import annotations

import pytest

from navi.live.model.session import SessionState, Transition, first_line, state_after


def test_a_turn_makes_an_idle_session_run_and_its_end_makes_it_idle() -> None:
    assert state_after(SessionState.IDLE, Transition.TURN_BEGINS) is SessionState.RUNNING
    assert state_after(SessionState.RUNNING, Transition.TURN_ENDS) is SessionState.IDLE


def test_an_agent_that_asks_waits_until_it_goes_on() -> None:
    assert state_after(SessionState.RUNNING, Transition.AGENT_ASKS) is SessionState.WAITING
    assert state_after(SessionState.WAITING, Transition.AGENT_GOES_ON) is SessionState.RUNNING


@pytest.mark.parametrize("state", list(SessionState))
def test_a_killed_session_never_comes_back(state: SessionState) -> None:
    assert state_after(state, Transition.KILLED) is SessionState.STOPPED
    assert state_after(SessionState.STOPPED, Transition.TURN_BEGINS) is None
    assert state_after(SessionState.STOPPED, Transition.TURN_ENDS) is SessionState.STOPPED


def test_no_session_runs_two_turns() -> None:
    assert state_after(SessionState.RUNNING, Transition.TURN_BEGINS) is None
    assert state_after(SessionState.WAITING, Transition.TURN_BEGINS) is None


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Fix the login\n\nIt fails since Monday.", "Fix the login"),
        ("\n\n  Fix \t the   login  \n", "Fix the login"),
        ("Fix \x1b[31mthe\x07 login\u202e", "Fix the login"),
        ("\x00\x01\nFix it", "Fix it"),
        (" \n\t", None),
        ("a" * 80, "a" * 80),
        ("a" * 78 + " bc", "a" * 78 + "…"),
        ("long " * 400_000, ("long " * 16)[:79].rstrip() + "…"),
    ],
)
def test_a_title_is_the_first_line_that_says_something(text: str, title: str | None) -> None:
    assert first_line(text) == title
