"""Which commands an agent may run unasked: suggestions from what was run, never wider than that.

Every command of every line counts and is judged (harm.py). A rule for all arguments is suggested
only where no argument can do harm; everything else only as the very command that was run. What
needs a person's eye is `review`; what does harm is `skipped` and said why.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from navi.domain.shell import read_command, subcommand
from navi.domain.shell_command import ShellCommand, base_name
from navi.index.harm import LOOKED_THROUGH, NOT_UNDERSTOOD, WRITES_TO_FILE, JudgedLine, judge
from navi.index.harm_table import Harm, Key
from navi.index.judgement import Judgement

HIGH_USES = 50
MEDIUM_USES = 10
EXAMPLES = 3
PROJECTS = 5
# A group of many different commands shows this many of the repeated ones.
MOST_REVIEWED = 5
MOST_SURE = 10
LONGEST_RULE = 200
LONGEST_WORD = 40


class Confidence(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    REVIEW = "review"


@dataclass(frozen=True, slots=True)
class CountedCommand:
    """A shell line as it was run, how often, and where."""

    command: str
    count: int
    projects: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Suggestion:
    pattern: str
    """As people read it: `git status *`, `npm test`."""
    rule: str
    """As Claude Code's settings want it: `Bash(git status:*)`, `Bash(npm test)`."""
    count: int
    confidence: Confidence
    reason: str
    projects: tuple[str, ...]
    """Where it was used, most used first."""
    examples: tuple[str, ...]
    """Lines that it was part of, most used first."""


@dataclass(frozen=True, slots=True)
class Skipped:
    pattern: str
    count: int
    reason: str
    projects: tuple[str, ...]
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Suggestions:
    suggestions: list[Suggestion]
    """The surest first, then the most used."""
    skipped: list[Skipped]


def suggest(commands: Iterable[CountedCommand]) -> Suggestions:
    groups: dict[Key, _Group] = {}
    refused: dict[tuple[str, str], _Uses] = {}
    for counted in commands:
        judged = judge(read_command(counted.command))
        is_clean = judged.worst.harm <= Harm.PROJECT
        for place, command in enumerate(judged.commands):
            if _is_judged_with_another(place, judged):
                continue
            judgement = judged.judgements[place]
            if not judged.is_understood and judgement.harm < Harm.DONE:
                # What was cut out of such a line may be only a part of what ran.
                judgement, command = NOT_UNDERSTOOD, command._replace(dynamic=frozenset((0,)))
            if judgement.harm >= Harm.DONE:
                key = (_refused_pattern(command, judgement), judgement.reason)
                refused.setdefault(key, _Uses()).add(counted, is_clean=False, is_piped=False)
                if judgement.head is not None:
                    groups.setdefault(
                        judgement.head, _Group(judgement.head)
                    ).taint = judgement.reason
            elif command.words and command.words[0] not in _NEVER_ASKED_FOR:
                head = judgement.head or _group_head(command)
                group = groups.setdefault(head, _Group(head))
                group.add(command, judgement, counted, is_clean)
    found = Suggestions([], [])
    for group in groups.values():
        group.conclude(found)
    found.skipped.extend(
        uses.skipped(pattern, reason) for (pattern, reason), uses in refused.items()
    )
    order = list(Confidence)
    found.suggestions.sort(key=lambda one: (order.index(one.confidence), -one.count, one.pattern))
    found.skipped.sort(key=lambda one: (-one.count, one.pattern))
    return found


# Words of the shell's own language: nobody is asked about them.
_NEVER_ASKED_FOR = frozenset(
    (*("[", "[[", ":", "true", "false", "exit", "return", "break", "continue", "wait", "set"),)
)


def _is_judged_with_another(place: int, judged: JudgedLine) -> bool:
    """Whether a rule would be about another command: the wrapper of this one, or what it wraps."""
    command = judged.commands[place]
    if command.name is not None and base_name(command.name) in LOOKED_THROUGH:
        return any(other.parent == place for other in judged.commands)
    while command.parent >= 0:
        command = judged.commands[command.parent]
        if command.name is None or base_name(command.name) not in LOOKED_THROUGH:
            return True
    return False


@dataclass(slots=True)
class _Uses:
    """How often, where and in which lines something was used."""

    count: int = 0
    plain: int = 0
    """Of these, outside of pipes and beside nothing that does harm."""
    projects: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)

    def add(self, counted: CountedCommand, *, is_clean: bool, is_piped: bool) -> None:
        self.count += counted.count
        if is_clean and not is_piped:
            self.plain += counted.count
        for project in counted.projects:
            self.projects[project] += counted.count
        self.lines[counted.command] += counted.count

    def merge(self, other: _Uses) -> None:
        self.count += other.count
        self.plain += other.plain
        self.projects.update(other.projects)
        self.lines.update(other.lines)

    def where(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return _most_used(self.projects, PROJECTS), _most_used(self.lines, EXAMPLES)

    def skipped(self, pattern: str, reason: str) -> Skipped:
        return Skipped(pattern, self.count, reason, *self.where())


def _most_used(counter: Counter[str], most: int) -> tuple[str, ...]:
    ranked = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
    return tuple(name for name, _ in ranked[:most])


class _Group:
    """The commands that begin alike."""

    def __init__(self, head: Key) -> None:
        self.head = head
        self.forms: dict[str, tuple[Judgement, _Uses]] = {}
        self.taint: str | None = None
        """The harm it was seen to do as well, so that no rule may stand for all of it."""

    def add(
        self, command: ShellCommand, judgement: Judgement, counted: CountedCommand, is_clean: bool
    ) -> None:
        text = "" if command.dynamic else command.text or shlex.join(command.words)
        known = self.forms.get(text)
        if known is None or known[0].harm < judgement.harm:
            self.forms[text] = known = (judgement, known[1] if known else _Uses())
        known[1].add(counted, is_clean=is_clean, is_piped=command.is_piped)

    def conclude(self, found: Suggestions) -> None:
        rest = dict(self.forms)
        wide = {text for text, (judgement, _) in rest.items() if judgement.is_wide}
        is_several = len(wide) > 1 or any(not _is_writable(text) for text in wide)
        if wide and is_several and self.taint is None:
            uses = _Uses()
            for text in wide:
                uses.merge(rest.pop(text)[1])
            found.suggestions.append(self._for_all(uses, Harm.NONE, "only reads, whatever follows"))
        self._conclude_each(rest, found)
        if rest:
            self._conclude_others(rest, found)

    def _conclude_each(self, rest: dict[str, tuple[Judgement, _Uses]], found: Suggestions) -> None:
        """The very commands: those often used, and a few that came more than once."""
        ranked = sorted(rest, key=lambda text: (-rest[text][1].count, text))
        reviewed = sure = 0
        for text in ranked:
            judgement, uses = rest[text]
            if not _is_writable(text):
                continue
            confidence, reason = _confidence(judgement.harm, uses)
            if confidence is Confidence.REVIEW:
                if reviewed >= MOST_REVIEWED or (uses.count < 2 and len(ranked) > 1):
                    continue
                reviewed += 1
            elif sure >= MOST_SURE:
                continue
            else:
                sure += 1
            del rest[text]
            reason = f"{judgement.reason}{reason}"
            found.suggestions.append(
                Suggestion(text, f"Bash({text})", uses.count, confidence, reason, *uses.where())
            )

    def _conclude_others(
        self, rest: dict[str, tuple[Judgement, _Uses]], found: Suggestions
    ) -> None:
        """What was run only once or twice in each form."""
        uses = _Uses()
        for _, used in rest.values():
            uses.merge(used)
        judgement = max((judgement for judgement, _ in rest.values()), key=lambda one: one.harm)
        pattern = f"{' '.join(self.head)} *"
        if judgement.harm <= Harm.PROJECT and judgement.head == self.head and self.taint is None:
            reason = f"{judgement.reason}, but with other arguments each time"
            if judgement.except_for:
                reason += f"; the rule would allow {judgement.except_for} as well"
            found.suggestions.append(self._for_all(uses, Harm.UNKNOWN, reason))
        elif judgement.harm <= Harm.PROJECT:
            harm = self.taint or "can do harm with others"
            reason = f"{judgement.reason}, with other arguments each time; but it also {harm}"
            found.skipped.append(uses.skipped(pattern, reason))
        else:
            found.skipped.append(uses.skipped(pattern, judgement.reason))

    def _for_all(self, uses: _Uses, harm: Harm, reason: str) -> Suggestion:
        confidence, why = _confidence(harm, uses)
        text = " ".join(self.head)
        return Suggestion(
            f"{text} *", f"Bash({text}:*)", uses.count, confidence, f"{reason}{why}", *uses.where()
        )


def _confidence(harm: Harm, uses: _Uses) -> tuple[Confidence, str]:
    """How sure, and what to add to the reason."""
    if harm >= Harm.UNKNOWN:
        return Confidence.REVIEW, ""
    if uses.plain >= HIGH_USES:
        return Confidence.HIGH, ""
    if uses.plain >= MEDIUM_USES:
        return Confidence.MEDIUM, ""
    if uses.count < MEDIUM_USES:
        return Confidence.REVIEW, "; seldom used"
    return Confidence.REVIEW, "; mostly used in pipes or beside commands that are not harmless"


# A rule takes `*` for anything, brackets and backslashes in its own way, and has one line.
_UNWRITABLE = re.compile(r"[*()\\\n\r\t\x00-\x1f]|:$|^\s|\s$")


def _is_writable(text: str) -> bool:
    return 0 < len(text) <= LONGEST_RULE and _UNWRITABLE.search(text) is None


def _group_head(command: ShellCommand) -> Key:
    """How commands without an entry of their own are grouped: as `stats bash` does."""
    words = command.words
    sub = subcommand(words, command.dynamic)
    return words[:2] if sub is not None and words[1] == sub else words[:1]


def _refused_pattern(command: ShellCommand, judgement: Judgement) -> str:
    """`rm -rf *` for `rm -rf build`: enough to know it by, without its arguments."""
    if not command.words:
        return "> *"
    head = list(_group_head(command))
    rest = command.words[len(head) :]
    while rest and rest[0][:1] == "-" and len(head) < 4:
        head.append(rest[0])
        rest = rest[1:]
    target = " > *" if judgement.reason == WRITES_TO_FILE else ""
    return " ".join(word[:LONGEST_WORD] for word in head) + (" *" if rest else "") + target
