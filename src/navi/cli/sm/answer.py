"""Waits for an agent's answer to an input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from navi.base.errors import NaviError
from navi.cli import output
from navi.cli.sm import lines
from navi.client import Client

if TYPE_CHECKING:
    from navi.live.model.wire_format import AnswerJson, SessionJson


class NotInTime(NaviError):
    kind = "not_in_time"


class TurnFailed(NaviError):
    kind = "turn_failed"


def wait_for(
    client: Client, session: SessionJson, input_id: str, seconds: float, *, as_json: bool
) -> None:
    """Print the answer. Raises NotInTime or TurnFailed unless the turn succeeds in time."""
    result = client.answer(session["id"], input_id, seconds)
    if as_json:
        output.say_json(result)
    elif result["answer"]:
        output.say(result["answer"])
    _require_success(session, result, seconds)


def _require_success(session: SessionJson, result: AnswerJson, seconds: float) -> None:
    if result["status"] != "done":
        raise NotInTime(
            f"{lines.title_and_id(session)} did not answer within {seconds:g} seconds; "
            f"the message is {result['status']}",
            hint=f"`sm wait {session['id']}` keeps waiting; `sm output {session['id']}` shows "
            "what it said",
        )
    if result["outcome"] != "ok":
        reason = f": {result['error']}" if result["error"] else ""
        raise TurnFailed(
            f"{lines.title_and_id(session)} ended its turn with outcome "
            f"{result['outcome']}{reason}",
            hint=f"`sm tail {session['id']}` shows what happened",
        )
