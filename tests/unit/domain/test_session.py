from __future__ import annotations

import pytest

from navi.domain.session import SessionState, Step, after


def test_a_turn_makes_an_idle_session_run_and_its_end_makes_it_idle() -> None:
    assert after(SessionState.IDLE, Step.TURN_BEGINS) is SessionState.RUNNING
    assert after(SessionState.RUNNING, Step.TURN_ENDS) is SessionState.IDLE


def test_an_agent_that_asks_waits_until_it_goes_on() -> None:
    assert after(SessionState.RUNNING, Step.AGENT_ASKS) is SessionState.WAITING
    assert after(SessionState.WAITING, Step.AGENT_GOES_ON) is SessionState.RUNNING


@pytest.mark.parametrize("state", list(SessionState))
def test_a_killed_session_never_comes_back(state: SessionState) -> None:
    assert after(state, Step.KILLED) is SessionState.STOPPED
    assert after(SessionState.STOPPED, Step.TURN_BEGINS) is None
    assert after(SessionState.STOPPED, Step.TURN_ENDS) is SessionState.STOPPED


def test_no_session_runs_two_turns() -> None:
    assert after(SessionState.RUNNING, Step.TURN_BEGINS) is None
    assert after(SessionState.WAITING, Step.TURN_BEGINS) is None
