"""How long a question takes from the agent to the inbox, and its answer back to the agent.

    python -m benchmarks.questions
    python -m benchmarks.questions --quick --store sqlite

The agent is a stand-in for Claude Code that records when it asked and when it read the answer, so
only Navi's own time is measured. It waits for a while before each question, as agents do.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from benchmarks.common import STORES, empty_store, say_machine, stores_of
from benchmarks.turns.figures import Row, spread_of, table
from tests.paths import ROOT
from tests.server import Client, ServerProcess

STAND_IN = ROOT / "tests" / "claude_stand_in.py"
SESSIONS = 4
THINKS_SECONDS = (0.2, 2.0)
IN_INBOX_MS, RESUMED_MS = 200, 300
TIMEOUT_SECONDS = 300


async def measure(server: ServerProcess, store: str, count: int) -> list[Row]:
    """`count` questions of each session, answered as soon as a client has seen them."""
    seen_at: dict[str, float] = {}
    answered_at: dict[str, float] = {}
    folder = server.home / "work"
    folder.mkdir()
    async with server.client() as client, client.watch(after=0) as socket:
        for number in range(SESSIONS):
            session_id = await client.session(driver="claude_code", cwd=str(folder))
            await client.say(session_id, _prompt(number, count))
        answering: set[asyncio.Task[None]] = set()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while len(answered_at) < SESSIONS * count:
                frame = json.loads(await socket.recv())
                question = frame.get("question")
                if question is None or question["state"] != "open":
                    continue
                seen_at[question["call_id"]] = time.time()
                answering.add(asyncio.create_task(_answer(client, question, answered_at)))
        await asyncio.gather(*answering)
        results = await _results(server, SESSIONS * count)
    asked = [1000 * (seen_at[each] - result["asked_at"]) for each, result in results.items()]
    resumed = [
        1000 * (result["answered_at"] - answered_at[each]) for each, result in results.items()
    ]
    return [
        _row("question, until it is in the inbox", store, asked, IN_INBOX_MS),
        _row("answer, until the agent has it", store, resumed, RESUMED_MS),
    ]


def _prompt(session: int, count: int) -> str:
    seconds = random.Random(session)
    return " ".join(f"{seconds.uniform(*THINKS_SECONDS):.2f}:{each}" for each in range(count))


async def _answer(client: Client, question: Mapping[str, Any], at: dict[str, float]) -> None:
    items = await client.call("GET", "/inbox")
    assert f"question-{question['id']}" in {item["id"] for item in items}
    at[question["call_id"]] = time.time()
    path = f"/questions/{question['id']}/answer"
    await client.call("POST", path, {"decision": "allow"})


async def _results(server: ServerProcess, count: int) -> dict[str, dict[str, Any]]:
    """The records of the agents, by call."""
    results: dict[str, dict[str, Any]] = {}
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while len(results) < count:
            await asyncio.sleep(0.1)
            for output in server.home.rglob("out"):
                for line in output.read_text().splitlines():
                    with suppress(ValueError):
                        record = json.loads(line)
                        if "asked_at" in record:
                            results[record["message"]["content"][0]["tool_use_id"]] = record
    return results


def _row(what: str, store: str, milliseconds: list[float], most: int) -> Row:
    spread = spread_of(milliseconds)
    return Row(
        what,
        store,
        value=f"{len(milliseconds)}",
        spread=spread,
        goal=f"p99 < {most} ms",
        is_met=spread.p99 < most,
    )


def main() -> None:
    options = _options()
    say_machine()
    rows: list[Row] = []
    for store in stores_of(options.store):
        settings = {"NAVI_CLAUDE_CODE_COMMAND": str(STAND_IN)}
        with (
            empty_store(store) as (folder, url),
            ServerProcess(folder / "server", database_url=url, settings=settings) as server,
        ):
            rows += asyncio.run(measure(server, store, 5 if options.quick else 50))
    print(table(rows))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.questions", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--store", choices=[*STORES, "both"], default="both")
    parser.add_argument("--quick", action="store_true", help="fewer questions")
    return parser.parse_args()


if __name__ == "__main__":
    main()
