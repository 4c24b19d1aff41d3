"""Which commands an agent may run unasked: suggestions from what was run, never wider than that.

Every command of every line counts and is judged on its own (harm.py). A rule for all arguments is
suggested only where no argument can do harm, or where guards ask about those that can (guards.py);
everything else only as the very command that was run. What needs a person's eye is `review`; what
does harm is `skipped`, with the reason. No suggestion has a secret in it.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from navi.base.secrets.masking import mask
from navi.permissions.bash_rule import any_of, covers
from navi.permissions.guards import SHARED
from navi.permissions.risk import LOOKED_THROUGH, NOT_UNDERSTOOD, WRITES_TO_FILE, JudgedLine, judge
from navi.permissions.shell.shell_command import ShellCommand, base_name
from navi.permissions.shell.shell_line import read_command, subcommand
from navi.permissions.verdict import Harm, Judgement, Key

HIGH_USES = 50
MEDIUM_USES = 10
EXAMPLES = 3
PROJECTS = 5
# A group of many different commands shows this many of the repeated ones.
MOST_REVIEWED = 5
MOST_SURE = 10
LONGEST_RULE = 200
LONGEST_WORD = 40
LONGEST_BUNDLE = 5


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
    guards: tuple[str, ...] = ()
    """What has to be asked about nevertheless, as Claude Code's settings want it."""


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
        secrets = _secrets(counted.command, judged.commands)
        for place, command in enumerate(judged.commands):
            if _is_judged_with_another(place, judged):
                continue
            judgement = judged.judgements[place]
            if not judged.is_understood and judgement.harm < Harm.DONE:
                # What was cut out of such a line may be only a part of what ran.
                judgement, command = NOT_UNDERSTOOD, command._replace(dynamic=frozenset((0,)))
            if judgement.harm >= Harm.DONE or secrets[place]:
                reason = judgement.reason if judgement.harm >= Harm.DONE else "contains a secret"
                pattern = _refused_pattern(command, judgement, counted.command)
                key = (pattern, reason)
                refused.setdefault(key, _Uses()).add(counted)
                if judgement.head is not None and judgement.guards is None:
                    group = groups.setdefault(judgement.head, _Group(judgement.head))
                    group.is_seen_to_do_harm = True
            elif any(secrets):
                continue  # what it was run with may be a part of the secret
            elif command.words and command.words[0] not in _NEVER_ASKED_FOR:
                head = judgement.head or _group_head(command)
                groups.setdefault(head, _Group(head)).add(command, judgement, counted)
    found = Suggestions([], [])
    for group in groups.values():
        group.conclude(found)
    found.skipped.extend(
        uses.skipped(pattern, reason) for (pattern, reason), uses in refused.items()
    )
    order = list(Confidence)
    found.suggestions.sort(key=lambda one: (order.index(one.confidence), -one.count, one.pattern))
    found.skipped.sort(key=lambda one: (-one.count, one.pattern))
    return Suggestions(_without_covered(_without_shadowed(found.suggestions)), found.skipped)


def _secrets(line: str, commands: Sequence[ShellCommand]) -> list[bool]:
    """Which of a line's commands have a secret; all of them if only the whole line shows one."""
    if mask(line) is line:
        return [False] * len(commands)
    has_secret = [mask(text) is not text for text in map(_text, commands)]
    return has_secret if any(has_secret) else [True] * len(commands)


def _text(command: ShellCommand) -> str:
    return command.text or shlex.join(command.words)


def _without_shadowed(suggestions: list[Suggestion]) -> list[Suggestion]:
    """Without those that the guards of another make useless, or without that one if used less."""
    sure = [each for each in suggestions if each.confidence is not Confidence.REVIEW]
    dropped = set()
    for exact in sure:
        for wide in sure:
            if any_of(wide.guards).search(exact.rule[5:-1]) is not None:
                dropped.add(min(exact, wide, key=lambda each: each.count).rule)
    return [each for each in suggestions if each.rule not in dropped]


def _without_covered(suggestions: list[Suggestion]) -> list[Suggestion]:
    """Without those that a wider one makes unnecessary."""
    wide = [
        each
        for each in suggestions
        if each.rule.endswith(":*)") and each.confidence is not Confidence.REVIEW
    ]
    return [
        each
        for each in suggestions
        if not any(other is not each and covers(other.rule, each.rule) for other in wide)
    ]


# Words of the shell's own language, and those that do nothing: nobody is asked about them.
_NEVER_ASKED_FOR = frozenset(
    (
        *("[", "[[", "test", ":", "true", "false", "exit", "return", "break", "continue"),
        *("wait", "set", "read"),
    )
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
    projects: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)

    def add(self, counted: CountedCommand) -> None:
        self.count += counted.count
        for project in counted.projects:
            self.projects[project] += counted.count
        self.lines[counted.command] += counted.count

    def merge(self, other: _Uses) -> None:
        self.count += other.count
        self.projects.update(other.projects)
        self.lines.update(other.lines)

    def where(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        examples = _most_used(self.lines, EXAMPLES)
        return _most_used(self.projects, PROJECTS), tuple(map(mask, examples))

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
        self.is_seen_to_do_harm = False
        """It was run with arguments that no guard would have asked about."""

    def add(self, command: ShellCommand, judgement: Judgement, counted: CountedCommand) -> None:
        text = "" if command.dynamic else command.text or shlex.join(command.words)
        if command.assignments and text:
            # Claude Code looks through harmless ones such as CI=1.
            text = shlex.join(command.words)
        known = self.forms.get(text)
        if known is None or known[0].harm < judgement.harm:
            self.forms[text] = known = (judgement, known[1] if known else _Uses())
        known[1].add(counted)

    def conclude(self, found: Suggestions) -> None:
        rest = dict(self.forms)
        wide = {
            text: judgement
            for text, (judgement, _) in rest.items()
            if judgement.guards is not None and judgement.harm <= Harm.PROJECT
        }
        if self._is_worth_a_wide_rule(wide):
            uses = _Uses()
            for text in wide:
                uses.merge(rest.pop(text)[1])
            found.suggestions.append(self._wide_rule(next(iter(wide.values())), uses))
        self._conclude_each(rest, found)
        if rest:
            self._conclude_others(rest, found)

    def _is_worth_a_wide_rule(self, wide: dict[str, Judgement]) -> bool:
        if not wide or self.is_seen_to_do_harm:
            return False
        judgement = next(iter(wide.values()))
        seen = {text for text in wide if text}
        if judgement.guards:
            return len(seen) > 1
        return bool(wide.keys() - {" ".join(self.head)})

    def _wide_rule(self, judgement: Judgement, uses: _Uses) -> Suggestion:
        confidence, why = _confidence(judgement.harm, uses)
        text = " ".join(self.head)
        more = ", whatever follows"
        if judgement.guards:
            more += ", except for what the guards ask about"
        return Suggestion(
            f"{text} *",
            f"Bash({text}:*)",
            uses.count,
            confidence,
            f"{judgement.reason}{more}{why}",
            *uses.where(),
            guards=(*(judgement.guards or ()), *SHARED),
        )

    def _conclude_each(self, rest: dict[str, tuple[Judgement, _Uses]], found: Suggestions) -> None:
        """The very commands: those often used, and a few that came more than once."""
        ranked = sorted(rest, key=lambda text: (-rest[text][1].count, text))
        reviewed = sure = 0
        for text in ranked:
            judgement, uses = rest[text]
            if not _is_writable(text):
                continue
            confidence, why = _confidence(judgement.harm, uses)
            if confidence is Confidence.REVIEW:
                if reviewed >= MOST_REVIEWED or (uses.count < 2 and len(ranked) > 1):
                    continue
                reviewed += 1
            elif sure >= MOST_SURE:
                continue
            else:
                sure += 1
            del rest[text]
            reason = f"{judgement.reason}{why}"
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
        reason = judgement.reason
        if judgement.harm <= Harm.PROJECT:
            reason += " as it was run, with other arguments each time; but others can do harm"
        found.skipped.append(uses.skipped(f"{' '.join(self.head)} *", reason))


def _confidence(harm: Harm, uses: _Uses) -> tuple[Confidence, str]:
    """How sure, and what to add to the reason."""
    if harm >= Harm.UNKNOWN:
        return Confidence.REVIEW, ""
    if uses.count >= HIGH_USES:
        return Confidence.HIGH, ""
    if uses.count >= MEDIUM_USES:
        return Confidence.MEDIUM, ""
    return Confidence.REVIEW, "; seldom used"


# A rule takes `*` for anything, brackets and backslashes in its own way, and has one line.
_UNWRITABLE = re.compile(r"[*()\\\n\r\t\x00-\x1f]|:$|^\s|\s$")


def _is_writable(text: str) -> bool:
    return 0 < len(text) <= LONGEST_RULE and _UNWRITABLE.search(text) is None


def _group_head(command: ShellCommand) -> Key:
    """How commands without an entry of their own are grouped: as `stats bash` does."""
    words = command.words
    sub = subcommand(words, command.dynamic)
    head = words[:2] if sub is not None and words[1] == sub else words[:1]
    # Masked before they are cut: half a secret would no longer be recognised.
    return tuple(mask(word)[:LONGEST_WORD] if len(word) > LONGEST_WORD else word for word in head)


def _refused_pattern(command: ShellCommand, judgement: Judgement, line: str) -> str:
    """`rm -rf *` for `rm -rf build`: enough to know it by, without its arguments and secrets."""
    if not command.words:
        return "> *"
    head = list(judgement.head or _group_head(command))
    rest = command.words[len(head) :]
    while rest and rest[0][:1] == "-" and len(head) < 4:
        head.append(_option_name(rest[0]))
        rest = rest[1:]
    masked = mask(line)
    if masked is not line:
        head = [word if word in masked else "[masked]" for word in head]
    target = " > *" if judgement.reason == WRITES_TO_FILE else ""
    return " ".join(head) + (" *" if rest else "") + target


def _option_name(word: str) -> str:
    """Without a value, which may be a password: `--token=`, `-p` of `-phunter2`."""
    name, equals, _ = word.partition("=")
    is_bundle = word[:2] == "--" or len(word) <= LONGEST_BUNDLE
    return f"{name}{equals}"[:LONGEST_WORD] if is_bundle else word[:2]
