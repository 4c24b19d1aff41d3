"""Waits for an agent's answer to an input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from navi.base.errors import NaviError
from navi.cli import output
from navi.cli.sm import inbox_lines, lines, overview, reader
from navi.cli.sm.timezone import own_timezone
from navi.client import Client
from navi.live.model.message import closing_words
from navi.live.model.turn import Ending, Outcome

if TYPE_CHECKING:
    from navi.live.model.wire_format import AnswerJson, QuestionJson, SessionJson


FAILURES: dict[str | None, str] = {
    Outcome.DENIED: "was denied permission",
    Outcome.ERROR: "failed",
    Outcome.STOPPED: "was stopped",
    Outcome.MAX_ITERATIONS: "used all its steps",
    Outcome.LIMIT: "hit a usage limit",
}


class NotInTime(NaviError):
    kind = "not_in_time"


class TurnFailed(NaviError):
    kind = "turn_failed"


def wait_for(
    client: Client, session: SessionJson, input_id: str, seconds: float, *, as_json: bool
) -> None:
    """Wait for the answer and print it. Raises TurnFailed or, after `seconds`, NotInTime.

    Printing the answer marks the session as read, unless it is JSON or an agent runs this.
    """
    result = client.answer(session["id"], input_id, seconds)
    if as_json:
        output.say_json(result)
    elif result["answer"] and not _only_repeats_error(result):
        output.say(result["answer"])
    if result["status"] == "done" and not as_json:
        reader.mark_read(client, client.session(session["id"]))
    if result["status"] != "done" or result["outcome"] != "ok":
        raise _failure(client, session, result, seconds)


def open_question(client: Client, session_id: str) -> QuestionJson | None:
    """The question that the session waits for, if any."""
    questions = overview.open_questions(client, [client.session(session_id)])
    return questions.get(session_id)


def _only_repeats_error(result: AnswerJson) -> bool:
    """Whether the agent wrote nothing, so that the answer is only the error."""
    outcome = result["outcome"]
    if outcome in (None, "ok"):
        return False
    return result["answer"] == closing_words(Ending(Outcome(outcome), result["error"]))


def _failure(
    client: Client, session: SessionJson, result: AnswerJson, seconds: float
) -> NotInTime | TurnFailed:
    limit = lines.limit(client.session(session["id"]), client.now(), own_timezone())
    continuation = "" if limit is None else f" ({limit}; then it continues)"
    if result["status"] != "done":
        late = f"{lines.title_and_id(session)} did not answer within {seconds:g} seconds"
        if (question := open_question(client, session["id"])) is not None:
            return NotInTime(
                f"{late}; it {inbox_lines.asks(question)}",
                hint=inbox_lines.how_to_answer([question]) or "",
            )
        return NotInTime(
            f"{late}; the message is {result['status']}{continuation}",
            hint=f"`sm wait {session['id']}` keeps waiting; `sm output {session['id']}` shows "
            "what it said",
        )
    reason = f": {result['error']}" if result["error"] else ""
    ending = FAILURES.get(result["outcome"], "ended its turn")
    return TurnFailed(
        f"{lines.title_and_id(session)} {ending}{reason}{continuation}",
        hint=f"`sm tail {session['id']}` shows what happened",
    )
