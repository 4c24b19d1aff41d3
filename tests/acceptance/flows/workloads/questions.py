"""Agents ask people, two people answer at once, and servers and agents are killed meanwhile.

Some sessions ask before each of their calls and wait in the middle of their turns, in their process
or without one: a stand-in for Claude Code, which is killed as well. The others end their turns by
asking, and the answer starts the next one.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import psutil

from tests.acceptance.flows import ledger
from tests.acceptance.flows.ledger import Ledger, Sent
from tests.acceptance.flows.storm import LOOK_SECONDS, Report, Storm, Workload
from tests.paths import ROOT
from tests.waiting import eventually

STAND_IN = ROOT / "tests" / "claude_stand_in.py"
EXPECTED = ("ended as denied", "Claude Code was killed")
CLOSED = ": 409: "
ANSWERS: Mapping[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "permission": ({"decision": "allow"}, {"decision": "deny"}),
    "choice": ({"decision": "choose", "choices": ["A"]}, {"decision": "reply", "text": "C"}),
}
"""What the first and the second person says."""


@dataclass(slots=True)
class Questions(Workload):
    """No question is lost, no call runs twice, and each confirmed answer is the one that counts.

    A call runs once if it was allowed, and never otherwise. An agent that was killed after it may
    have read an answer is not started again, so its turn may end without the call; but it says so.
    """

    sessions: int = 4
    """How many ask before each call; half as many ask at the end of their turns."""
    agents_killed: int = 0
    together: int = 0
    """How often all agents were killed with a server."""
    too_late: int = 0
    """How many people were told that somebody else had answered."""
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What the server confirmed, by question."""
    _folder: Path = Path()
    _home: Path = Path()
    _calling: list[str] = field(default_factory=list)
    _asking: list[str] = field(default_factory=list)
    _wrong: list[str] = field(default_factory=list)

    settings: ClassVar[Mapping[str, str]] = {"NAVI_CLAUDE_CODE_COMMAND": str(STAND_IN)}
    moments = ("question_update", "stream_start", "tool_started", "stream_end", "input_queued")

    async def start(self, storm: Storm) -> Sequence[Coroutine[Any, Any, None]]:
        self.agents_killed, self.together, self.too_late = 0, 0, 0
        self.answers, self._wrong = {}, []
        self._home = storm.servers[0].home
        self._folder = self._home / "work"
        self._folder.mkdir()
        driver = {"driver": "claude_code", "cwd": str(self._folder)}
        self._calling = [await storm.session(**driver) for _ in range(self.sessions)]
        self._asking = [await storm.session() for _ in range(self.sessions // 2)]
        talks = [
            *(self._talk(storm, each, calls) for each in self._calling),
            *(self._talk(storm, each, ask) for each in self._asking),
        ]
        return [*talks, self._answer_all(storm), self._kill_agents(storm)]

    async def finish(self, storm: Storm) -> None:
        while not await is_quiet(storm):
            await self._answer_open(storm)
            await asyncio.sleep(LOOK_SECONDS)
        if await self._answer_open(storm):
            await eventually(lambda: is_quiet(storm), "the last answers have arrived")
        store = await asyncio.to_thread(ledger.read, storm.database_url)
        for session_id in self._calling:
            self._check_calls(await questions_of(storm, session_id), store)
        for session_id in self._asking:
            self._check_asked(await questions_of(storm, session_id), store)
        runs = self._runs()
        self._wrong += [f"{word} ran {count} times" for word, count in runs.items() if count > 1]

    def violations(self) -> list[str]:
        return self._wrong

    def is_expected(self, violation: str) -> bool:
        return any(each in violation for each in EXPECTED)

    def figures(self, report: Report) -> dict[str, int]:
        return {
            "agents killed": self.agents_killed,
            "… all of them with a server": self.together,
            "answers": len(self.answers),
            "… that came too late": self.too_late,
        }

    async def _talk(self, storm: Storm, session_id: str, text: Any) -> None:
        number = 0
        while not storm.is_over.is_set():
            number += 1
            name = f"{session_id}-{number}"
            accepted = await storm.send(Sent(name, session_id, text(name)))
            path = f"/sessions/{session_id}/queue"
            while accepted["position"] >= 1 and not storm.is_over.is_set():
                await storm.pause(storm.random.uniform(0.1, 0.5))
                accepted = {"position": len(await storm.call("GET", path))}
            if session_id in self._asking:
                await storm.pause(storm.random.uniform(0.2, 1))

    # People.

    async def _answer_all(self, storm: Storm) -> None:
        while not storm.is_over.is_set():
            await self._answer_open(storm)
            await storm.pause(storm.random.uniform(0, 0.3))

    async def _answer_open(self, storm: Storm) -> int:
        """Answer all open questions. Returns how many there were."""
        questions = await storm.call("GET", "/questions?state=open")
        await asyncio.gather(*(self._answer(storm, each) for each in questions))
        return len(questions)

    async def _answer(self, storm: Storm, question: Mapping[str, Any]) -> None:
        """One person answers, or two at once with different answers."""
        first, second = ANSWERS[question["kind"]]
        chance = storm.random.random()
        bodies = [{**first, "via": "sm"}, {**second, "via": "page"}]
        bodies = bodies[:1] if chance < 0.5 else bodies[1:] if chance < 0.6 else bodies
        path = f"/questions/{question['id']}/answer"
        replies = await asyncio.gather(*(self._confirmed(storm, path, each) for each in bodies))
        confirmed = [each for each in replies if each is not None]
        if len(confirmed) > 1:
            self._wrong.append(f"{question['title']}: two answers were confirmed")
        if confirmed:
            self.answers[question["id"]] = confirmed[0]

    async def _confirmed(self, storm: Storm, path: str, body: Any) -> dict[str, Any] | None:
        """The answer that the server stored; None if the question was closed before."""
        try:
            closed = await storm.call("POST", path, body)
        except AssertionError as refusal:
            if CLOSED not in str(refusal):
                raise
            self.too_late += "already answered" in str(refusal)
            return None
        return dict(closed["answer"])

    # The killer.

    async def _kill_agents(self, storm: Storm) -> None:
        while not storm.is_over.is_set():
            await storm.pause(storm.random.uniform(0.3, 2))
            if agents := self._agents():
                self._kill(storm.random.choice(agents))

    def on_kill(self, storm: Storm) -> None:
        if storm.random.random() < 0.3:
            self.together += 1
            for agent in self._agents():
                self._kill(agent)

    def _kill(self, agent: psutil.Process) -> None:
        with suppress(psutil.NoSuchProcess):
            agent.kill()
            self.agents_killed += 1

    def _agents(self) -> list[psutil.Process]:
        return [each for each in psutil.process_iter() if self._is_agent(each)]

    def _is_agent(self, process: psutil.Process) -> bool:
        """Whether it is an agent, or the shell that waits for one; not the keeper of its input."""
        try:
            command = process.cmdline()
            is_agent = command[1:2] == [str(STAND_IN)]
            is_shell = str(STAND_IN) in command and os.getsid(process.pid) == process.pid
            return (is_agent or is_shell) and process.environ().get("HOME") == str(self._home)
        except (psutil.NoSuchProcess, psutil.AccessDenied, ProcessLookupError):
            return False

    # The oracle.

    def _runs(self) -> Counter[str]:
        file = self._folder / "ran"
        return Counter(file.read_text().split() if file.exists() else [])

    def _check_calls(self, questions: Sequence[Mapping[str, Any]], store: Ledger) -> None:
        runs = self._runs()
        outcomes = {turn.id: turn.outcome for turn in store.turns}
        allowed = {
            question["tool_input"]["word"]
            for question in questions
            if (question["answer"] or {}).get("decision") == "allow"
        }
        own = {word for word in runs if word.startswith(questions[0]["session_id"])}
        self._wrong += [f"{word} ran and was not allowed" for word in own - allowed]
        for question in questions:
            word = question["tool_input"]["word"]
            answer = self._confirmed_answer(question)
            is_told = outcomes[question["turn_id"]] == "error"
            if answer and answer["decision"] == "allow" and not runs[word] and not is_told:
                self._wrong.append(f"{word} was allowed, but did not run, and nobody was told")
        counts = Counter(question["tool_input"]["word"] for question in questions)
        self._wrong += [f"{word} was asked {n} times" for word, n in counts.items() if n > 1]

    def _check_asked(self, questions: Sequence[Mapping[str, Any]], store: Ledger) -> None:
        [session_id] = {question["session_id"] for question in questions}
        inputs = [each for each in store.inputs if each.session_id == session_id]
        outcomes = {turn.id: turn.outcome for turn in store.turns}
        counts = Counter(question["title"] for question in questions)
        for each in inputs:
            if each.origin == "answer":
                continue
            count = counts[title_of(each.id)]
            if count > 1 or (count == 0 and outcomes.get(each.turn_id or "") == "ok"):
                self._wrong.append(f"{each.id} asked {count} times")
        by_id = {each.id: each for each in inputs if each.origin == "answer"}
        for question in questions:
            answer = self._confirmed_answer(question)
            received = by_id.pop(f"{question['id']}.answer", None)
            words = None if answer is None else answer["text"] or ", ".join(answer["choices"])
            if received is None or words is None or not received.text.endswith(f"\n{words}"):
                self._wrong.append(f"{question['title']} {answer}: the agent got {received}")
        self._wrong += [f"nobody asked for {each}" for each in by_id]

    def _confirmed_answer(self, question: Mapping[str, Any]) -> dict[str, Any] | None:
        """What a person was told to have answered; it must be the question's answer."""
        confirmed = self.answers.get(question["id"])
        if confirmed is not None and question["answer"] != confirmed:
            self._wrong.append(f"{question['title']} {confirmed} became {question['answer']}")
        return confirmed


def calls(name: str) -> str:
    """What the stand-in is to call: two words. It puts the second call off."""
    return f"{name}-0 {name}-1-later"


def ask(name: str) -> str:
    return f"[[ask: {title_of(name)} | A | B]] [[say: thanks]]"


def title_of(name: str) -> str:
    return f"Which for {name}?"


async def questions_of(storm: Storm, session_id: str) -> Sequence[Mapping[str, Any]]:
    """All questions of the session."""
    return list(await storm.call("GET", f"/questions?session_id={session_id}"))


async def is_quiet(storm: Storm) -> bool:
    return (await asyncio.to_thread(ledger.progress, storm.database_url))[1]
