"""Texts like those of transcripts: English with Zipf's law, code, paths, commands and their output.

Everything comes from the `Random` that is passed in, so a seed always gives the same texts.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from random import Random

VOCABULARY = 120_000
"""About as many different words as a few hundred megabytes of mixed English and code have."""
EXPONENT = 1.05
SLOTS_BITS = 20
"""A word's share of the slots is its probability, so one look-up finds a random word."""
SYLLABLES = """
ba be bi bo bu ca ce ci co cu da de di do du fa fe fi fo ga ge go ha he hi ho ja jo
ka ke ki ko la le li lo lu ma me mi mo mu na ne ni no nu pa pe pi po pu ra re ri ro
ru sa se si so su ta te ti to tu va ve vi vo wa we wi ya yo za ze zo al an ar as at
el en er es et il in ir is it on or os ul un ur us st tr pr gr cl pl br ch sh th ck
"""
COMMON = """
the to of and a in is that it for on be as with this you i not have are or at by from if we
can but will an what all one when use so which file then there do its was no has more out up
only my new code test line run get any your also should into now function same first how
set value them error here name time because where call need returns than just other see
each would change data does these two make type list check path some about string add tests
like class still after before read write while server key id user object found fix case default
right work build index query between module import command result output input number
without message session state next could already return config table column request response
every failed version update they end both last since let true false none start under again
python handler parser cache token client commit branch schema field method argument option
behaviour exactly instead looks problem seems pass once over must using given wrong empty
"""
FOLDERS = ("src", "tests", "lib", "app", "core", "internal", "packages", "cmd", "docs", "web")
SUFFIXES = ("py", "py", "ts", "tsx", "go", "rs", "md", "json", "toml", "sql")


@cache
def vocabulary(seed: int) -> tuple[str, ...]:
    """Most frequent first."""
    random = Random(f"{seed} vocabulary")
    words, syllables = dict.fromkeys(COMMON.split()), SYLLABLES.split()
    while len(words) < VOCABULARY:
        # Frequent words are short.
        longest = 2 if len(words) < 2_000 else 3 if len(words) < 20_000 else 5
        words["".join(random.choices(syllables, k=random.randint(2, longest)))] = None
    return tuple(words)


@cache
def _slots(seed: int) -> list[str]:
    words = vocabulary(seed)
    ends = list(accumulate(1 / (rank + 1.7) ** EXPONENT for rank in range(len(words))))
    slots: list[str] = []
    for word, end in zip(words, ends, strict=True):
        slots += [word] * max(1, round(end / ends[-1] * (1 << SLOTS_BITS)) - len(slots))
    return slots[: 1 << SLOTS_BITS]


class Texts:
    def __init__(self, seed: int, random: Random) -> None:
        self._slots = _slots(seed)
        self._random = random
        self._shift = 32 - (len(self._slots) - 1).bit_length()

    def words(self, count: int) -> list[str]:
        slots, shift, last = self._slots, self._shift, len(self._slots) - 1
        return [
            slots[min(number >> shift, last)]
            for number in array("I", self._random.randbytes(4 * count))
        ]

    def sentences(self, count: int) -> str:
        """About this many words, as sentences."""
        words, random, place, sentences = self.words(count), self._random.random, 0, []
        while place < count:
            end = place + 5 + int(random() * 18)
            sentence = words[place:end]
            sentence[0] = sentence[0].capitalize()
            if random() < 0.25:
                sentence[len(sentence) // 2] += ","
            if random() < 0.15:
                sentence[-1] = f"`{self.name()}`"
            if random() < 0.08:
                sentence.append(f"({self.path()}:{int(random() * 900)})")
            sentences.append(" ".join(sentence))
            place = end
        return ". ".join(sentences) + "."

    def prose(self, count: int) -> str:
        """Some paragraphs, perhaps a list, perhaps code."""
        random = self._random
        pieces = []
        while count > 0:
            some = min(count, 20 + int(random.random() * 60))
            pieces.append(self.sentences(some))
            count -= some
            chance = random.random()
            if chance < 0.12:
                pieces.append(f"```python\n{self.code(4 + int(random.random() * 14))}\n```")
            elif chance < 0.22:
                pieces.append("\n".join(f"- {self.sentences(6)}" for _ in range(4)))
        return "\n\n".join(pieces)

    def name(self) -> str:
        words, chance = self.words(3), self._random.random()
        if chance < 0.4:
            return "_".join(words[:2])
        if chance < 0.7:
            return "".join(word.capitalize() for word in words[:2])
        if chance < 0.85:
            return words[0] + "".join(word.capitalize() for word in words[1:])
        return f"{words[0]}.{words[1]}()"

    def path(self) -> str:
        words, random = self.words(3), self._random
        folder = FOLDERS[int(random.random() * len(FOLDERS))]
        suffix = SUFFIXES[int(random.random() * len(SUFFIXES))]
        return f"{folder}/{words[0]}/{words[1]}_{words[2]}.{suffix}"

    def code(self, lines: int) -> str:
        """Lines of a program, numbers and names included."""
        random, words = self._random.random, self.words(lines * 4)
        code = []
        for at in range(0, lines * 4, 4):
            a, b, c, d = words[at : at + 4]
            chance = random()
            if chance < 0.12:
                code.append(f"def {a}_{b}({c}: str, {d}: int = {int(random() * 500)}) -> None:")
            elif chance < 0.2:
                code.append(f"class {a.capitalize()}{b.capitalize()}({c.capitalize()}):")
            elif chance < 0.4:
                code.append(f"    {a} = self.{b}_{c}[{int(random() * 99)}]")
            elif chance < 0.55:
                code.append(f'    if {a}.{b} != "{c}-{d}":')
            elif chance < 0.7:
                code.append(f"        return {a}{b.capitalize()}({c}, {d}={c}.{d})")
            elif chance < 0.8:
                code.append(f"    # {a} {b} {c} {d}")
            else:
                code.append(f"    await {a}.{b}({c}_{d}, timeout={random():.3f})")
        return "\n".join(code)

    def output(self, size: int) -> str:
        """About this many characters of a command's output."""
        random, chance, lines = self._random.random, self._random.random(), []
        if chance < 0.45:
            return self.code(1 + size // 42)
        words = self.words(size // 20 + 4)
        for at in range(0, size // 50 + 1):
            a, b, c = words[at * 2 : at * 2 + 3]
            if chance < 0.75:
                clock = f"{int(random() * 24):02}:{int(random() * 60):02}:{random() * 60:06.3f}"
                lines.append(f"2026-10-{at % 28 + 1:02} {clock} INFO {a}.{b}: {c} took {at} ms")
            else:
                lines.append(f"{FOLDERS[at % len(FOLDERS)]}/{a}/{b}.py:{at * 7}: {c}_{a}")
        return "\n".join(lines)

    def command(self) -> str:
        """A shell command of an agent: mostly simple, sometimes compound."""
        a, b = self.words(2)
        return self.one_of(
            (
                f"git status --short && git diff --stat {self.path()}",
                f"git -C {a} log --oneline -{1 + int(self._random.random() * 30)}",
                f'rg -n "{a}_{b}" src tests | head -40',
                f"sed -n '{int(self._random.random() * 400)},+60p' {self.path()}",
                f"pytest tests/{a} -q -k {b}",
                f"cat {self.path()}",
                f"ls -la {a}/{b}",
                f'python -c "import {a}; print({a}.{b})"',
                f"cd {a} && make {b} 2>&1 | tail -20",
                f"npm run {a} -- --filter={b}",
                f'for f in {a}/*.py; do wc -l "$f"; done | sort -n',
                f"docker compose exec {a} {b} --version",
            )
        )

    def one_of(self, choices: Sequence[str]) -> str:
        return choices[int(self._random.random() * len(choices))]

    def length(self, middle: int, spread: float) -> int:
        """Most are short, some are very long."""
        return max(1, min(int(self._random.lognormvariate(0, spread) * middle), middle * 60))
