"""Sets budgets, shows what is left of them, and releases the sessions that waited for them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo

from navi.base.clock import Clock
from navi.base.errors import InvalidInput, NotFound, SessionNotFound
from navi.live.model.access.caller import Caller
from navi.live.model.access.user import User
from navi.live.model.budget import (
    Amount,
    Budget,
    Scope,
    budget_key,
    budget_of_call,
    day_of,
    unknown_price,
)
from navi.live.runtime.services.automation_service import AutomationService
from navi.live.runtime.services.session_service import SessionService
from navi.live.runtime.turns.admission import AdmissionService
from navi.live.store import budgets, questions
from navi.live.store.engine.transactions import Store
from navi.memory.prices import price_of


@dataclass(frozen=True, slots=True)
class Owner:
    """The session, automation or user that a budget belongs to."""

    scope: Scope
    id: str
    user_id: str
    model: str | None = None
    driver: str | None = None

    @property
    def key(self) -> str:
        return budget_key(self.scope, self.id)


class BudgetNotFound(NotFound):
    kind = "budget_not_found"

    def __init__(self) -> None:
        super().__init__("there is no budget", hint="to set one, POST tokens or dollars")


class BudgetService:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        sessions: SessionService,
        automations: AutomationService,
        admission: AdmissionService,
        zone: tzinfo,
        usual_day: Amount,
    ) -> None:
        self._store = store
        self._clock = clock
        self._sessions = sessions
        self._automations = automations
        self._admission = admission
        self._zone = zone
        self.usual_day = usual_day
        """How much all sessions of a user may use per day, unless the user has set a budget."""

    async def of_session(self, user: User, session_id: str) -> Owner:
        session = await self._sessions.get(user, session_id)
        return Owner(Scope.SESSION, session.id, session.user_id, session.model, session.driver)

    async def of_automation(self, user: User, automation_id: str) -> Owner:
        automation = await self._automations.get(user, automation_id)
        session = await self._sessions.get(user, automation.session_id)
        return Owner(
            Scope.AUTOMATION, automation_id, automation.user_id, session.model, session.driver
        )

    def of_day(self, user: User) -> Owner:
        return Owner(Scope.USER, user.id, user.id)

    async def find(self, owner: Owner) -> Budget | None:
        """The owner's budget, with what is left of it today; None if it has none."""
        stored = await self._store.transact(budgets.find, owner.scope, owner.id)
        if stored is None and owner.scope is Scope.USER:
            stored = Budget(Scope.USER, owner.id, owner.user_id, daily=True)
        return None if stored is None else self._as_of_now(stored)

    async def get(self, owner: Owner) -> Budget:
        budget = await self.find(owner)
        if budget is None:
            raise BudgetNotFound
        return budget

    async def list_budgets(self, user: User) -> list[Budget]:
        """All budgets in the user's sessions, or of all users, with what is left of them."""
        user_id = None if user.is_admin else user.id
        stored = await self._store.transact(budgets.list_budgets, user_id)
        return [self._as_of_now(each) for each in stored]

    def check(self, owner: Owner, amount: Amount, per: str | None) -> bool:
        """Whether the budget is a daily one. Raises `InvalidInput` if the owner can't have it."""
        if amount.is_none:
            raise InvalidInput("the budget has no amount", hint="give tokens or dollars")
        if per not in (None, "day", owner.scope.value) or (
            owner.scope is Scope.USER and per is not None and per != "day"
        ):
            other = "" if owner.scope is Scope.USER else f"{owner.scope.value} or "
            raise InvalidInput(f"a budget can't be per {per!r}", hint=f"per must be {other}day")
        if owner.driver == "tmux":
            raise InvalidInput(
                "agents in a terminal don't report what they use, so it can't be counted",
                hint="start the session with the driver claude_code or codex",
            )
        model = "scripted" if owner.driver == "scripted" else owner.model
        if amount.dollars is not None and model is not None and price_of(model) is None:
            raise InvalidInput(unknown_price(model), hint="set a token budget, like 500k tokens")
        return owner.scope is Scope.USER or per == "day"

    async def set(self, caller: Caller, owner: Owner, amount: Amount, per: str | None) -> Budget:
        """Give the owner this budget. If it is enough, sessions that wait for it go on at once."""
        caller.require_person()
        is_daily = self.check(owner, amount, per)
        before = await self.find(owner)
        new = Budget(
            owner.scope,
            owner.id,
            owner.user_id,
            tokens=amount.tokens,
            dollars=amount.dollars,
            daily=is_daily,
        )
        now = self._clock.now()
        budget = await self._store.transact(budgets.set_limit, new, now, self._zone)
        if budget.paused_until is None:
            await self._release(owner, before)
        return self._as_of_now(budget)

    async def remove(self, caller: Caller, owner: Owner) -> None:
        """Remove the budget. Sessions that wait for it go on at once."""
        caller.require_person()
        before = await self.get(owner)
        await self._store.transact(budgets.remove, owner.scope, owner.id)
        await self._release(owner, before)

    async def show_released(self, call_id: str) -> None:
        """Announce that sessions no longer wait for the budget, unless it is still used up."""
        key = budget_of_call(call_id)
        now = self._clock.now()
        for session_id in await self._store.transact(budgets.paused_sessions, key, now):
            try:
                await self._store.transact(budgets.show_released, session_id, key, now)
            except SessionNotFound:
                pass  # deleted in the meantime
        self._admission.wake()

    async def _release(self, owner: Owner, before: Budget | None) -> None:
        if before is not None and before.question_id is not None:
            now = self._clock.now()
            await self._store.transact(questions.withdraw, before.question_id, now)
        await self.show_released(owner.key)

    def _as_of_now(self, budget: Budget) -> Budget:
        day = day_of(self._clock.now(), self._zone)
        return budget.limited_by(self.usual_day).on(day)
