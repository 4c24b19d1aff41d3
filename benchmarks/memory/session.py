"""What generated sessions of both clients share: a clock, ids, lines, and the expected counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import UTC, datetime, timedelta
from random import Random

import msgspec

from benchmarks.memory.truth import Truth
from benchmarks.memory.words import Texts

LATEST = datetime(2026, 11, 1, tzinfo=UTC)
DAYS = 300
"""How far back the sessions go."""
HUGE_SHARE, HUGE_OUTPUT = 0.003, 60_000
"""The share of huge tool results, and their middle size in characters. Others are mostly short."""
PROJECTS = 40
HALF_TURN = 8_000
"""The average number of bytes beyond the requested size, since turns are written whole."""

quoted = msgspec.json.Encoder().encode
"""A text as the clients write it in JSON, without escaping letters of other scripts."""


def text(value: object) -> str:
    return quoted(value).decode()


class Session(ABC):
    """One session's file, line by line."""

    def __init__(self, seed: int, random: Random, id: str, *, is_today: bool) -> None:
        self.id = id
        self.random = random
        self.texts = Texts(seed, random)
        self.is_today = is_today
        """Whether a current client writes it, or one from half a year ago, which writes less."""
        self.lines: list[bytes] = []
        self.size = 0
        self.truth = Truth()
        self.now = LATEST - timedelta(seconds=random.random() * DAYS * 86_400)
        self.cwd = f"/home/ada/p/{project(int(random.random() ** 2 * PROJECTS))}"
        self.branch = random.choice(("main", "main", "feature/x", f"fix-{self.texts.words(1)[0]}"))

    @abstractmethod
    def begin(self) -> None:
        """Write the lines before the first turn."""

    @abstractmethod
    def turn(self, prompt: str) -> None:
        """Write a prompt and everything that follows from it."""

    @abstractmethod
    def torn(self) -> str:
        """A line of a message, to be cut."""

    def write(self, size: int) -> None:
        """Write about this many bytes."""
        self.begin()
        while True:
            self.turn(self.prompt())
            if self.size >= size - HALF_TURN:
                return
            self.now += timedelta(seconds=self.random.expovariate(1 / 300))

    def prompt(self) -> str:
        self.truth.prompts += 1
        return self.in_quotes(self.texts.prose(self.texts.length(22, 0.9)))

    def answer(self) -> str:
        return self.in_quotes(self.texts.prose(self.texts.length(38, 0.9)))

    def in_quotes(self, text: str) -> str:
        self.truth.texts += 1
        if self.random.random() < 0.002:
            words = text.split("\n")[0].split()
            self.truth.phrases.append(" ".join(words[1:4]))
        return text

    def thought(self) -> str:
        self.truth.thoughts += 1
        return self.texts.sentences(self.texts.length(40, 0.8))

    def output(self) -> str:
        self.truth.tool_results += 1
        if self.random.random() < HUGE_SHARE:
            return self.texts.output(self.texts.length(HUGE_OUTPUT, 0.7))
        return self.texts.output(self.texts.length(180, 1.1))

    def moment(self) -> str:
        """A little later than the last one."""
        self.now += timedelta(milliseconds=20 + self.random.random() * 4_000)
        return f"{self.now:%Y-%m-%dT%H:%M:%S}.{self.now.microsecond // 1000:03}Z"

    def uuid(self) -> str:
        digits = f"{self.random.getrandbits(128):032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def hex(self, length: int = 24) -> str:
        return f"{self.random.getrandbits(4 * length):0{length}x}"

    def put(self, line: str) -> None:
        data = line.encode()
        self.lines.append(data)
        self.size += len(data) + 1

    def tear(self) -> None:
        """Write a line cut off by a crash; the next one starts on its own line."""
        line = self.torn()
        self.put(line[: len(line) * 2 // 3])
        self.truth.torn_lines += 1

    def file(self, *, is_half_at_end: bool) -> bytes:
        data = b"\n".join(self.lines) + b"\n"
        if is_half_at_end:
            line = self.torn().encode()
            data += line[: len(line) // 2]
        self.truth.files, self.truth.bytes = 1, len(data)
        self.truth.lines = len(self.lines) + is_half_at_end
        return data


def project(number: int) -> str:
    return f"{('webapp', 'service', 'notes', 'engine', 'site')[number % 5]}-{number}"
