"""/questions: what agents ask people, and the answers."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi.base.errors import InvalidInput
from navi.live.api import request_bodies
from navi.live.api.access import identify_caller, identify_user, require_person
from navi.live.api.responses import answer
from navi.live.model.question import QuestionAnswer, QuestionState
from navi.live.model.wire_format import question_json


def routes() -> list[Route]:
    return [
        Route("/questions", list_questions, methods=["GET"]),
        Route("/questions/{id}", read, methods=["GET"]),
        Route("/questions/{id}/answer", give_answer, methods=["POST"]),
    ]


async def list_questions(request: Request) -> Response:
    navi, user = await identify_user(request)
    session_id, state = map(request.query_params.get, ("session_id", "state"))
    questions = await navi.questions.list_questions(user, session_id, _state(state))
    return answer([question_json(each) for each in questions])


async def read(request: Request) -> Response:
    navi, user = await identify_user(request)
    return answer(question_json(await navi.questions.get(user, request.path_params["id"])))


async def give_answer(request: Request) -> Response:
    navi, caller = await identify_caller(request)
    require_person(request, caller)
    body = await request_bodies.read(request, request_bodies.NewAnswer)
    decision = QuestionAnswer(body.decision, body.text, tuple(body.choices), body.updated_input)
    question = await navi.questions.answer(caller, request.path_params["id"], decision, body.via)
    return answer(question_json(question))


def _state(text: str | None) -> QuestionState | None:
    if text is None:
        return None
    if text not in set(QuestionState):
        raise InvalidInput(f"state can't be {text!r}", hint=f"one of: {', '.join(QuestionState)}")
    return QuestionState(text)
