"""/budgets, /budget (the caller's day), and the budgets of sessions and automations."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi.live.api import request_bodies
from navi.live.api.access import identify_caller, identify_user
from navi.live.api.responses import answer
from navi.live.model.access.caller import Caller
from navi.live.model.access.user import User
from navi.live.model.budget import BudgetRequest
from navi.live.model.wire_format import budget_json
from navi.live.runtime.app import Navi
from navi.live.runtime.services.budget_service import Owner


def routes() -> list[Route]:
    paths = ["/sessions/{id}/budget", "/automations/{automation_id}/budget", "/budget"]
    return [
        Route("/budgets", list_budgets, methods=["GET"]),
        *(Route(path, read, methods=["GET"]) for path in paths),
        *(Route(path, change, methods=["POST"]) for path in paths),
        *(Route(path, remove, methods=["DELETE"]) for path in paths),
    ]


async def list_budgets(request: Request) -> Response:
    navi, user = await identify_user(request)
    return answer([budget_json(each) for each in await navi.budgets.list_budgets(user)])


async def read(request: Request) -> Response:
    navi, user = await identify_user(request)
    return answer(budget_json(await navi.budgets.get(await _owner(navi, user, request))))


async def change(request: Request) -> Response:
    navi, caller = await identify_caller(request)
    body = await request_bodies.read(request, request_bodies.NewBudget)
    owner = await _owner(navi, caller.user, request)
    return answer(budget_json(await navi.budgets.set(caller, owner, body.amount, body.per)))


async def remove(request: Request) -> Response:
    navi, caller = await identify_caller(request)
    await navi.budgets.remove(caller, await _owner(navi, caller.user, request))
    return answer({"removed": True})


async def change_budget(
    navi: Navi, caller: Caller, owner: Owner, body: request_bodies.NewBudget | BudgetRequest | None
) -> None:
    """Set the budget, or remove it if there is none in the request."""
    if body is not None:
        await navi.budgets.set(caller, owner, body.amount, body.per)
    elif await navi.budgets.find(owner) is not None:
        await navi.budgets.remove(caller, owner)


async def _owner(navi: Navi, user: User, request: Request) -> Owner:
    path = request.path_params
    if "id" in path:
        return await navi.budgets.of_session(user, path["id"])
    if "automation_id" in path:
        return await navi.budgets.of_automation(user, path["automation_id"])
    return navi.budgets.of_day(user)
