"""What an agent answered to an input, waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from navi.cli import output
from navi.cli.sm import lines
from navi.client import Client
from navi.domain.errors import NaviError

if TYPE_CHECKING:
    from navi.domain.wire import AnswerJson, SessionJson


class NotInTime(NaviError):
    kind = "not_in_time"


class TurnFailed(NaviError):
    kind = "turn_failed"


def wait_for(
    client: Client, session: SessionJson, input_id: str, seconds: float, *, as_json: bool
) -> None:
    """Print the answer when it is there; fail if it does not come, or is none."""
    found = client.answer(session["id"], input_id, seconds)
    if as_json:
        output.say_json(found)
    elif found["answer"]:
        output.say(found["answer"])
    _require_good(session, found, seconds)


def _require_good(session: SessionJson, found: AnswerJson, seconds: float) -> None:
    if found["status"] != "done":
        raise NotInTime(
            f"{lines.named(session)} did not answer within {seconds:g} seconds; the message is "
            f"{found['status']}",
            hint=f"`sm wait {session['id']}` keeps waiting; `sm output {session['id']}` shows "
            "what it said",
        )
    if found["outcome"] != "ok":
        why = f": {found['error']}" if found["error"] else ""
        raise TurnFailed(
            f"{lines.named(session)} ended its turn with outcome {found['outcome']}{why}",
            hint=f"`sm tail {session['id']}` shows what happened",
        )
