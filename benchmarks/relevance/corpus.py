"""The sessions written by hand, and the questions about them.

Each file in `stories` is one project. A line `== name agent project day` begins a session. In the
lines after it, `>` marks a person's message, `<` the agent's, `?` a thought, `$` a command, `@` a
tool and its file, and `|` a line of output; `| ~ log 30` stands for 30 generated lines.
`Q kind: words` is a question that this session answers. All questions about a session are in the
same half.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

STORIES = Path(__file__).with_name("stories")
HALVES = ("tuning", "test")


class Step(NamedTuple):
    sign: str
    text: str
    output: tuple[str, ...] = ()


class Story(NamedTuple):
    name: str
    agent: str
    project: str
    started_at: datetime
    steps: tuple[Step, ...]


class Question(NamedTuple):
    kind: str
    half: str
    """Nothing may be tuned on the questions of the half `test`."""
    words: str
    story: str


def stories_and_questions() -> tuple[list[Story], list[Question]]:
    stories: list[Story] = []
    questions: list[Question] = []
    for path in sorted(STORIES.glob("*.txt")):
        for section in path.read_text().split("== ")[1:]:
            head, *lines = section.splitlines()
            name, agent, project, day = head.split()
            started_at = datetime.fromisoformat(day).replace(hour=9, tzinfo=UTC)
            steps = _steps([line for line in lines if line and not line.startswith("Q ")])
            stories.append(Story(name, agent, project, started_at, steps))
            for line in lines:
                if line.startswith("Q "):
                    kind, _, words = line[2:].partition(": ")
                    half = HALVES[len(stories) % len(HALVES)]
                    questions.append(Question(kind, half, words, name))
    return stories, questions


def _steps(lines: list[str]) -> tuple[Step, ...]:
    steps: list[Step] = []
    for line in lines:
        sign, text = line[0], line[1:].removeprefix(" ")
        if sign == "|":
            last = steps[-1]
            steps[-1] = last._replace(output=(*last.output, text))
        else:
            steps.append(Step(sign, text))
    return tuple(steps)
