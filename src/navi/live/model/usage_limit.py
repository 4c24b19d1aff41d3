"""Usage limits of accounts, and when to try again after meeting one.

A vendor limits an account, not a session. So when one turn meets a limit, the inputs of all
sessions with that account wait. When it resets, the sessions continue, one at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from navi.live.model.event import UsageWindow
from navi.live.model.input import CONTINUES, TOOL_CALL, DeliveryMode, Input, NewInput, Origin
from navi.live.model.session import Session

UNNAMED_KIND = "usage"
"""The kind of a limit that the vendor doesn't name."""
CONTINUE = (
    "The usage limit that interrupted you has reset. Continue where you stopped, and don't repeat "
    "what you have already done. Continue the sub-agents that it ended, too."
)
OLD_AFTER = timedelta(days=1)
"""After this long, a limit that is met again counts as a new one."""
_OF_ONE_TURN = frozenset(
    (TOOL_CALL, CONTINUES, "sender", "prompt_ref", "automation_prompt_ref", "missed_count")
)
"""Metadata that belongs to an input's own turn, not to one that continues it."""


@dataclass(frozen=True, slots=True)
class Account:
    """The vendor account that pays for a session's turns, and to which usage limits apply."""

    id: str
    agent: str
    user_id: str | None
    """The user whose sessions use it; None for the server's own, which all users share."""

    @classmethod
    def of_agent(cls, agent: str, session: Session) -> Account:
        """The account of an agent that has its own login."""
        return cls(f"{agent}:{session.user_id}", agent, session.user_id)

    @classmethod
    def of(cls, session: Session) -> Account:
        return cls.of_agent(session.driver, session)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When to try again after a limit."""

    margin: timedelta = timedelta(seconds=30)
    """How long to wait after the reset that the vendor named."""
    first_pause: timedelta = timedelta(minutes=1)
    """How long to wait if it named none. Each further pause is twice as long."""
    longest_pause: timedelta = timedelta(hours=1)
    max_probes: int = 12
    """How often to try again if no reset was named."""
    lead: timedelta = timedelta(minutes=1)
    """The head start of the first session, which shows whether the limit has really reset."""
    spacing: timedelta = timedelta(seconds=5)
    """The time between the sessions after the first."""


DEFAULT_RETRY = RetryPolicy()


@dataclass(frozen=True, slots=True)
class AccountLimit:
    """What is known about an account's limits."""

    account: Account
    windows: Mapping[str, UsageWindow] = field(default_factory=dict)
    """How much of each allowance was used when the agent last reported it, by kind."""
    kind: str | None = None
    """The kind of the limit that it met last."""
    limited_at: datetime | None = None
    """When it met the limit; None once a turn has shown that the limit has reset."""
    resets_at: datetime | None = None
    """When the limit resets; None if the vendor did not say."""
    retry_at: datetime | None = None
    """When the first input is tried again."""
    probes: int = 0
    """How many retries have failed since `limited_at`, if the vendor named no reset."""
    next_slot_at: datetime | None = None
    """When the next waiting session may continue."""

    def is_in_force(self, now: datetime) -> bool:
        return self.retry_at is not None and now < self.retry_at

    def holds(self, input: Input, now: datetime) -> bool:
        """Whether the input has to wait. One that a person sends despite the limit does not."""
        if not self.is_in_force(now):
            return False
        assert self.limited_at is not None
        is_despite_limit = (
            input.origin in (Origin.USER, Origin.ANSWER)
            and input.limit_account is None
            and (input.queued_at is None or input.queued_at >= self.limited_at)
        )
        return not is_despite_limit


@dataclass(frozen=True, slots=True)
class LimitReport:
    """An account's limit of one kind, for people. `until` is set while inputs wait for it."""

    account: Account
    kind: str
    used_percent: float | None
    resets_at: datetime | None
    until: datetime | None
    waiting_inputs: int


def after_limit(
    limit: AccountLimit,
    kind: str,
    resets_at: datetime | None,
    now: datetime,
    policy: RetryPolicy,
) -> AccountLimit | None:
    """The account after a turn met a limit.

    None if no reset was named and trying again has failed `max_probes` times.
    """
    if resets_at is not None and resets_at > now:
        return _until_reset(limit, kind, resets_at, now, policy)
    if limit.is_in_force(now):
        return limit  # Turns that ran side by side met the same limit.
    is_same = limit.retry_at is not None and limit.resets_at is None and not _is_old(limit, now)
    probes = limit.probes + 1 if is_same else 0
    if probes >= policy.max_probes:
        return None
    pause = min(policy.first_pause * 2 ** min(probes, 20), policy.longest_pause)
    return replace(
        limit,
        kind=kind,
        limited_at=limit.limited_at if is_same else now,
        resets_at=None,
        retry_at=now + pause,
        probes=probes,
        next_slot_at=now + pause,
    )


def after_giving_up(limit: AccountLimit, now: datetime) -> AccountLimit:
    """The account after `after_limit` returned None: nothing waits, and the next turn is a new
    try."""
    return replace(limit, limited_at=limit.limited_at or now, resets_at=None, retry_at=now)


def after_success(limit: AccountLimit, began_at: datetime) -> AccountLimit:
    """The account after a turn that began at `began_at` met no limit.

    If the vendor named a reset, only a turn that began after it shows that the limit is gone: an
    earlier one may have used another model.
    """
    shown_from = limit.retry_at if limit.resets_at is not None else limit.limited_at
    if shown_from is None or began_at < shown_from:
        return limit
    return after_lifting(limit)


def after_lifting(limit: AccountLimit) -> AccountLimit:
    """The account without a limit in force."""
    return replace(
        limit, limited_at=None, resets_at=None, retry_at=None, probes=0, next_slot_at=None
    )


def take_slot(limit: AccountLimit, policy: RetryPolicy) -> tuple[datetime, AccountLimit]:
    """When one more session may continue: the first at `retry_at`, the others one by one after."""
    assert limit.retry_at is not None
    slot = max(limit.next_slot_at or limit.retry_at, limit.retry_at)
    step = policy.lead if slot == limit.retry_at else policy.spacing
    return slot, replace(limit, next_slot_at=slot + step)


def reports(limit: AccountLimit, waiting_inputs: int, now: datetime) -> list[LimitReport]:
    """The account's limits. The one in force has the number of waiting inputs."""
    kinds = list(limit.windows)
    if limit.limited_at is not None or waiting_inputs:
        kinds = list(dict.fromkeys([limit.kind or UNNAMED_KIND, *kinds]))
    return [report(limit, kind, waiting_inputs, now) for kind in kinds]


def report(limit: AccountLimit, kind: str, waiting_inputs: int, now: datetime) -> LimitReport:
    """The account's limit of this kind."""
    window = limit.windows.get(kind)
    is_met = kind == (limit.kind or UNNAMED_KIND)
    resets_at = None if window is None else window.resets_at
    return LimitReport(
        account=limit.account,
        kind=kind,
        used_percent=None if window is None else window.used_percent,
        resets_at=limit.resets_at if is_met and limit.resets_at is not None else resets_at,
        until=limit.retry_at if is_met and limit.is_in_force(now) else None,
        waiting_inputs=waiting_inputs if is_met else 0,
    )


def continuation(turn_id: str, inputs: Sequence[Input], at: datetime, account: Account) -> NewInput:
    """The input that asks the agent to continue a turn that met a limit after its work had begun.

    It replaces the turn's inputs: it has their origin, and its end is reported to their senders.
    """
    first = inputs[0]
    own = {key: value for key, value in first.metadata.items() if key not in _OF_ONE_TURN}
    return NewInput(
        id=f"{turn_id}.continued",
        session_id=first.session_id,
        text=CONTINUE,
        # It goes before anything sent after the work began.
        delivery_mode=DeliveryMode.IMPORTANT,
        origin=first.origin,
        remind_soft_threshold=first.remind_soft_threshold,
        remind_hard_threshold=first.remind_hard_threshold,
        notify_on_stop=any(each.notifies_person for each in inputs),
        metadata={**own, CONTINUES: continued_inputs(inputs)},
        not_before=at,
        limit_account=account.id,
    )


def continued_inputs(inputs: Sequence[Input]) -> list[str]:
    """The ids of the inputs with which the work of this turn began."""
    return [id for each in inputs for id in each.metadata.get(CONTINUES, [each.id])]


def gave_up_words(error: str | None, probes: int) -> str:
    times = "once" if probes == 1 else f"{probes} times"
    tried = f"tried again {times}; " if probes else ""
    return f"{error or 'a usage limit'} ({tried}send a message to try once more)"


def _until_reset(
    limit: AccountLimit, kind: str, resets_at: datetime, now: datetime, policy: RetryPolicy
) -> AccountLimit:
    retry_at = resets_at + policy.margin
    if limit.is_in_force(now) and limit.resets_at is not None:
        retry_at = max(retry_at, limit.retry_at or retry_at)
    if retry_at == limit.retry_at:
        return limit
    return replace(
        limit,
        kind=kind,
        limited_at=limit.limited_at or now,
        resets_at=resets_at,
        retry_at=retry_at,
        probes=0,
        next_slot_at=retry_at,
    )


def _is_old(limit: AccountLimit, now: datetime) -> bool:
    return limit.retry_at is not None and now - limit.retry_at > OLD_AFTER
