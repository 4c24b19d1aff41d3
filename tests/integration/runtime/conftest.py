"""Navi at work inside the test's own process, on each kind of store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from navi.live.agents.driver import Driver
from navi.live.runtime.app import running
from navi.live.runtime.settings import (
    AgentSettings,
    AutomationSettings,
    BudgetSettings,
    NotificationSettings,
    RecallSettings,
    Settings,
    TurnSettings,
)
from tests.hand_clock import HandClock
from tests.live_world import NOW, Start, World


@pytest.fixture
def database_url(prepared_url: str) -> str:
    return prepared_url


@pytest.fixture
def clock() -> HandClock:
    return HandClock(NOW)


@pytest.fixture
def start(database_url: str, tmp_path: Path, clock: HandClock) -> Start:
    """Start a Navi on the test's database; several may share it, and the clock."""

    @asynccontextmanager
    async def starting(
        automations: AutomationSettings | None = None,
        drivers: Mapping[str, Driver] | None = None,
        notifications: NotificationSettings | None = None,
        recalls: Mapping[str, Any] | None = None,
        budgets: Mapping[str, Any] | None = None,
        **turns: Any,
    ) -> AsyncIterator[World]:
        settings = Settings(
            turns=TurnSettings(**turns),
            automations=automations or AutomationSettings(),
            notifications=notifications or NotificationSettings(),
            agent=AgentSettings(model="scripted"),
            recalls=RecallSettings(**(recalls or {})),
            budgets=BudgetSettings(**(budgets or {})),
        )
        async with running(settings, database_url, "token", clock=clock, drivers=drivers) as navi:
            yield World(navi, tmp_path, clock)

    return starting


@pytest.fixture
async def world(start: Start) -> AsyncIterator[World]:
    async with start() as world:
        yield world
