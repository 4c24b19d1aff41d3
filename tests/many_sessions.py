"""A home with very many small sessions of two agents, and its index."""

from __future__ import annotations

import json
import random
from datetime import timedelta

from tests.memory_world import START, World

PROJECTS = 40
SUBJECTS = ("auth", "token", "cart", "ledger", "queue", "index", "cache", "render", "deploy")
ENDINGS = ("", "s", "er", "ing", "ion", "able", "ful", "ish", "ly", "ness")
WORDS = tuple(subject + ending for subject in SUBJECTS for ending in ENDINGS)


def write_many(world: World, count: int) -> None:
    """The newest session has the highest number; every tenth is one of Codex."""
    words = random.Random(1)
    for number in range(count):
        title = f"Session {number}: fix the {words.choice(WORDS)} of the {words.choice(WORDS)}"
        texts = [" ".join(words.choices(WORDS, k=length)) for length in (60, 40, 120)]
        if number % 10 == 9:
            write_codex(world, number, [title, *texts])
            continue
        file = world.file(f"{number:08x}-0000-4000-8000-{number:012x}", _project(number))
        file.count = number * 60  # a minute after the one before
        file.say(title).run(f"grep -rn {words.choice(WORDS)}", text=texts[0])
        file.say(texts[1]).line("assistant", [{"type": "text", "text": texts[2]}])


def write_codex(world: World, number: int, texts: list[str], project: str | None = None) -> str:
    """A session of Codex, in which a person and the agent take turns; returns Codex's own id."""
    id = f"019a0000-0000-7000-8000-{number:012x}"
    began = START + timedelta(minutes=number)
    cwd = str(world.home / (project or _project(number)))
    meta = {"id": id, "timestamp": began.isoformat(), "cwd": cwd}
    rows = [{"timestamp": began.isoformat(), "type": "session_meta", "payload": meta}]
    for index, text in enumerate(texts):
        role, kind = (("user", "input_text"), ("assistant", "output_text"))[index % 2]
        content = [{"type": kind, "text": text}]
        at = (began + timedelta(seconds=index)).isoformat()
        payload = {"type": "message", "role": role, "content": content}
        rows.append({"timestamp": at, "type": "response_item", "payload": payload})
    folder = world.home / ".codex" / "sessions" / "2026" / "03" / "01"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"rollout-2026-03-01T12-00-00-{id}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return id


def _project(number: int) -> str:
    return f"p{number % PROJECTS}"
