"""Servers are killed at any moment; nothing is lost and nothing happens twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.acceptance.flows.conftest import Serve
from tests.acceptance.flows.storm import Report, Storm, Workload
from tests.acceptance.flows.workloads.automations import Automations
from tests.acceptance.flows.workloads.inputs import Inputs
from tests.acceptance.flows.workloads.messages import Messages
from tests.acceptance.flows.workloads.questions import Questions
from tests.acceptance.flows.workloads.recalls import Recalls

# A server can take ten seconds to start on a loaded machine.
pytestmark = [pytest.mark.proof, pytest.mark.timeout(900)]


@pytest.mark.parametrize("database_url", ["sqlite", "postgresql"], indirect=True)
@pytest.mark.parametrize(
    ("workload", "kills", "servers", "happened"),
    [
        pytest.param(Inputs(), 20, 1, lambda report: report.sent, id="input"),
        pytest.param(
            Messages(messages=40, workers=3), 4, 2, lambda report: report.reminder_ids, id="message"
        ),
        pytest.param(Recalls(sessions=6), 10, 2, lambda report: report.ledger.beats, id="recall"),
        pytest.param(
            Automations(sessions=3),
            4,
            2,
            lambda report: any(run.delivery == "delivered" for run in report.ledger.runs),
            id="automation",
        ),
        pytest.param(Questions(), 5, 1, lambda report: report.sent, id="questions"),
    ],
)
async def test_nothing_is_lost_or_doubled_when_servers_are_killed(
    serve: Serve,
    database_url: str | None,
    workload: Workload,
    kills: int,
    servers: int,
    happened: Callable[[Report], object],
) -> None:
    """SQLite has one server; PostgreSQL as many as the case says."""
    processes = [
        serve(database_url, settings=workload.settings, command=workload.command)
        for _ in range(1 if database_url is None else servers)
    ]

    report = await Storm(processes, workload, seed=20).run(kills)

    assert report.violations == []
    assert report.kills == kills
    assert all(sent.is_confirmed for sent in report.sent)
    assert happened(report)
