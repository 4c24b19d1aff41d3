"""What the storm of questions would notice. Its oracle is worth only as much as it can refuse."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.acceptance.flows.workloads.questions import Questions

ALLOW: dict[str, Any] = {"decision": "allow", "text": None, "choices": []}
DENY = {**ALLOW, "decision": "deny"}
A: dict[str, Any] = {"decision": "choose", "text": None, "choices": ["A"]}


def called(answer: dict[str, Any], question_id: str = "q") -> dict[str, Any]:
    word = {"word": "s-1-0"}
    about = {"session_id": "s", "turn_id": "t", "title": "May I?", "tool_input": word}
    return {"id": question_id, "answer": answer, **about}


@pytest.mark.parametrize(
    ("questions", "confirmed", "ran", "outcome", "problem"),
    [
        ([called(ALLOW)], ALLOW, "s-1-0", "ok", None),
        ([called(DENY)], DENY, "", "denied", None),
        ([called(ALLOW)], ALLOW, "", "error", None),
        ([called(ALLOW)], ALLOW, "", "ok", "was allowed, but did not run, and nobody was told"),
        ([called(DENY)], DENY, "s-1-0", "ok", "ran and was not allowed"),
        ([called(DENY)], ALLOW, "", "ok", "became"),
        ([called(ALLOW), called(ALLOW, "q2")], ALLOW, "s-1-0", "ok", "was asked 2 times"),
    ],
)
def test_a_call_is_compared_with_what_people_were_told(
    tmp_path: Path, questions: Any, confirmed: Any, ran: str, outcome: str, problem: str | None
) -> None:
    (tmp_path / "ran").write_text(ran)
    workload = Questions(answers={"q": confirmed}, _folder=tmp_path)
    store: Any = SimpleNamespace(turns=[SimpleNamespace(id="t", outcome=outcome)])
    workload._check_calls(questions, store)
    assert_noticed(workload, problem)


@pytest.mark.parametrize(
    ("titles", "answers", "problem"),
    [
        (["Which for s-1?"], ["\nA"], None),
        (["Which for s-1?"], [], "the agent got None"),
        (["Which for s-1?"], ["\nC"], "the agent got"),
        (["Which for s-1?"], ["\nA", "\nA"], "nobody asked for"),
        (["Which for s-1?", "Which for s-1?"], ["\nA", "\nA"], "asked 2 times"),
        (["Which for s-2?"], ["\nA"], "asked 0 times"),
    ],
)
def test_an_answer_is_compared_with_what_the_agent_got(
    titles: list[str], answers: list[str], problem: str | None
) -> None:
    asked = [
        {"id": f"q{number}", "session_id": "s", "title": title, "answer": A}
        for number, title in enumerate(titles)
    ]
    inputs = [("s-1", "user", ""), *((f"q{n}.answer", "answer", t) for n, t in enumerate(answers))]
    store: Any = SimpleNamespace(
        turns=[SimpleNamespace(id="t", outcome="ok")],
        inputs=[
            SimpleNamespace(id=id, session_id="s", origin=origin, text=text, turn_id="t")
            for id, origin, text in inputs
        ],
    )
    workload = Questions(answers={f"q{number}": A for number in range(len(asked))})
    workload._check_asked(asked, store)
    assert_noticed(workload, problem)


def assert_noticed(workload: Questions, problem: str | None) -> None:
    wrong = workload.violations()
    assert (wrong == []) if problem is None else any(problem in each for each in wrong)
