"""Suggests rules for commands that an agent may run unasked, based on what it has run.

Every command of every line is counted and judged separately (risk.py). A wide rule, for all
arguments, is suggested only if no argument can do harm, or if guards catch those that can
(guards.py); other rules allow a command only exactly as it was run. Commands that a person should
look at get the confidence `review`; harmful ones are in `skipped`, with the reason. No suggestion
contains a secret.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from navi.base.secrets.masking import mask
from navi.permissions.bash_rule import covers, rules_pattern
from navi.permissions.guards import SHARED_GUARDS
from navi.permissions.judgement import Harm, Judgement, Words
from navi.permissions.risk import (
    HARMLESS_WRAPPERS,
    NOT_UNDERSTOOD,
    WRITES_TO_FILE,
    JudgedLine,
    judge,
)
from navi.permissions.shell.shell_command import ShellCommand, base_name
from navi.permissions.shell.shell_line import read_command, subcommand

USES_FOR_HIGH = 50
USES_FOR_MEDIUM = 10
MAX_EXAMPLES = 3
MAX_PROJECTS = 5
# How many exact commands one group may suggest with the confidence `review`, and with a higher one.
MAX_FOR_REVIEW = 5
MAX_CONFIDENT = 10
LONGEST_RULE = 200
LONGEST_WORD = 40
LONGEST_BUNDLE = 5  # of one-letter options; a longer word, such as -phunter2, contains a value


class Confidence(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    REVIEW = "review"


@dataclass(frozen=True, slots=True)
class CountedCommand:
    """A shell line, how often it was run, and where."""

    command: str
    count: int
    projects: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Suggestion:
    pattern: str
    """For people: `git status *`, `npm test`."""
    rule: str
    """For Claude Code's settings: `Bash(git status:*)`, `Bash(npm test)`."""
    count: int
    confidence: Confidence
    reason: str
    projects: tuple[str, ...]
    """Where it was used, most used first."""
    examples: tuple[str, ...]
    """Lines that contained it, most used first."""
    guards: tuple[str, ...] = ()
    """The `ask` rules that go with it, for Claude Code's settings."""


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
    """Most confident first, then most used."""
    skipped: list[Skipped]


def suggest(commands: Iterable[CountedCommand]) -> Suggestions:
    groups: dict[Words, _Group] = {}
    refused: dict[tuple[str, str], _Uses] = {}
    for counted in commands:
        line = judge(read_command(counted.command))
        has_secret = _find_secrets(counted.command, line.commands)
        for index, command in enumerate(line.commands):
            if _is_judged_with_another(index, line):
                continue
            judgement = line.judgements[index]
            if not line.is_understood and judgement.harm < Harm.CERTAIN:
                # A command cut out of such a line may be only a part of what ran.
                judgement, command = NOT_UNDERSTOOD, command._replace(dynamic=frozenset((0,)))
            if judgement.harm >= Harm.CERTAIN or has_secret[index]:
                reason = judgement.reason if judgement.harm >= Harm.CERTAIN else "contains a secret"
                pattern = _refused_pattern(command, judgement, counted.command)
                refused.setdefault((pattern, reason), _Uses()).add(counted)
                if judgement.head is not None and judgement.guards is None:
                    group = groups.setdefault(judgement.head, _Group(judgement.head))
                    group.has_harmful_use = True
            elif any(has_secret):
                continue  # its arguments may be part of the secret
            elif command.words and command.words[0] not in _NEED_NO_RULE:
                head = judgement.head or _group_head(command)
                groups.setdefault(head, _Group(head)).add(command, judgement, counted)
    result = Suggestions([], [])
    for group in groups.values():
        group.add_conclusions_to(result)
    result.skipped.extend(
        uses.as_skipped(pattern, reason) for (pattern, reason), uses in refused.items()
    )
    order = list(Confidence)
    result.suggestions.sort(
        key=lambda suggestion: (
            order.index(suggestion.confidence),
            -suggestion.count,
            suggestion.pattern,
        )
    )
    result.skipped.sort(key=lambda skipped: (-skipped.count, skipped.pattern))
    return Suggestions(_without_covered(_without_shadowed(result.suggestions)), result.skipped)


def _find_secrets(line: str, commands: Sequence[ShellCommand]) -> list[bool]:
    """Which of a line's commands contain a secret; all if only the whole line shows one."""
    if mask(line) is line:
        return [False] * len(commands)
    has_secret = [mask(text) is not text for text in map(_text, commands)]
    return has_secret if any(has_secret) else [True] * len(commands)


def _text(command: ShellCommand) -> str:
    return command.text or shlex.join(command.words)


def _without_shadowed(suggestions: list[Suggestion]) -> list[Suggestion]:
    """If the guards of one suggestion would catch another, drop the less used of the two."""
    confident = [item for item in suggestions if item.confidence is not Confidence.REVIEW]
    dropped = set()
    for suggestion in confident:
        for other in confident:
            if rules_pattern(other.guards).search(suggestion.rule[5:-1]) is not None:
                dropped.add(min(suggestion, other, key=lambda item: item.count).rule)
    return [item for item in suggestions if item.rule not in dropped]


def _without_covered(suggestions: list[Suggestion]) -> list[Suggestion]:
    """Drop suggestions that a wider one makes unnecessary."""
    wide = [
        item
        for item in suggestions
        if item.rule.endswith(":*)") and item.confidence is not Confidence.REVIEW
    ]
    return [
        item
        for item in suggestions
        if not any(other is not item and covers(other.rule, item.rule) for other in wide)
    ]


# Shell keywords and commands without effect: Claude Code never asks about them.
_NEED_NO_RULE = frozenset(
    (
        *("[", "[[", "test", ":", "true", "false", "exit", "return", "break", "continue"),
        *("wait", "set", "read"),
    )
)


def _is_judged_with_another(index: int, line: JudgedLine) -> bool:
    """Whether a rule must name another command instead: its wrapper, or the one it wraps."""
    command = line.commands[index]
    if command.name is not None and base_name(command.name) in HARMLESS_WRAPPERS:
        return any(other.parent == index for other in line.commands)
    while command.parent >= 0:
        command = line.commands[command.parent]
        if command.name is None or base_name(command.name) not in HARMLESS_WRAPPERS:
            return True
    return False


@dataclass(slots=True)
class _Uses:
    """How often, where and in which lines a command was used."""

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

    def projects_and_examples(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        examples = _most_used(self.lines, MAX_EXAMPLES)
        return _most_used(self.projects, MAX_PROJECTS), tuple(map(mask, examples))

    def as_skipped(self, pattern: str, reason: str) -> Skipped:
        return Skipped(pattern, self.count, reason, *self.projects_and_examples())


def _most_used(counter: Counter[str], limit: int) -> tuple[str, ...]:
    ranked = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
    return tuple(name for name, _ in ranked[:limit])


class _Group:
    """Commands with the same first words."""

    def __init__(self, head: Words) -> None:
        self.head = head
        self.forms: dict[str, tuple[Judgement, _Uses]] = {}
        """By the command's exact text, or by '' if some words are decided only at run time."""
        self.has_harmful_use = False
        """Whether such a command was run with harmful arguments that no guard would catch."""

    def add(self, command: ShellCommand, judgement: Judgement, counted: CountedCommand) -> None:
        text = "" if command.dynamic else command.text or shlex.join(command.words)
        if command.assignments and text:
            # Claude Code ignores harmless assignments such as CI=1.
            text = shlex.join(command.words)
        form = self.forms.get(text)
        if form is None or form[0].harm < judgement.harm:
            self.forms[text] = form = (judgement, form[1] if form else _Uses())
        form[1].add(counted)

    def add_conclusions_to(self, result: Suggestions) -> None:
        rest = dict(self.forms)
        wide = {
            text: judgement
            for text, (judgement, _) in rest.items()
            if judgement.guards is not None and judgement.harm <= Harm.RUNS_CHECKS
        }
        if self._is_worth_a_wide_rule(wide):
            uses = _Uses()
            for text in wide:
                uses.merge(rest.pop(text)[1])
            result.suggestions.append(self._wide_suggestion(next(iter(wide.values())), uses))
        self._suggest_exact_commands(rest, result)
        if rest:
            self._skip_others(rest, result)

    def _is_worth_a_wide_rule(self, wide: dict[str, Judgement]) -> bool:
        if not wide or self.has_harmful_use:
            return False
        judgement = next(iter(wide.values()))
        if judgement.guards:
            return sum(1 for text in wide if text) > 1
        return bool(wide.keys() - {" ".join(self.head)})

    def _wide_suggestion(self, judgement: Judgement, uses: _Uses) -> Suggestion:
        confidence, remark = _confidence(judgement.harm, uses)
        text = " ".join(self.head)
        arguments = ", with any arguments"
        if judgement.guards:
            arguments += " except those that the guards ask about"
        return Suggestion(
            f"{text} *",
            f"Bash({text}:*)",
            uses.count,
            confidence,
            f"{judgement.reason}{arguments}{remark}",
            *uses.projects_and_examples(),
            guards=(*(judgement.guards or ()), *SHARED_GUARDS),
        )

    def _suggest_exact_commands(
        self, rest: dict[str, tuple[Judgement, _Uses]], result: Suggestions
    ) -> None:
        """Suggest the most used exact commands and remove them from `rest`."""
        ranked = sorted(rest, key=lambda text: (-rest[text][1].count, text))
        for_review = confident = 0
        for text in ranked:
            judgement, uses = rest[text]
            if not _is_writable(text):
                continue
            confidence, remark = _confidence(judgement.harm, uses)
            if confidence is Confidence.REVIEW:
                if for_review >= MAX_FOR_REVIEW or (uses.count < 2 and len(ranked) > 1):
                    continue
                for_review += 1
            elif confident >= MAX_CONFIDENT:
                continue
            else:
                confident += 1
            del rest[text]
            reason = f"{judgement.reason}{remark}"
            result.suggestions.append(
                Suggestion(
                    text,
                    f"Bash({text})",
                    uses.count,
                    confidence,
                    reason,
                    *uses.projects_and_examples(),
                )
            )

    def _skip_others(self, rest: dict[str, tuple[Judgement, _Uses]], result: Suggestions) -> None:
        """Summarise the remaining commands in one skipped entry."""
        uses = _Uses()
        for _, uses_of_form in rest.values():
            uses.merge(uses_of_form)
        judgement, _ = max(rest.values(), key=lambda form: form[0].harm)
        reason = judgement.reason
        if judgement.harm <= Harm.RUNS_CHECKS:
            reason += (
                " as it was run, but no exact rule would help, and other arguments may do harm"
            )
        result.skipped.append(uses.as_skipped(f"{' '.join(self.head)} *", reason))


def _confidence(harm: Harm, uses: _Uses) -> tuple[Confidence, str]:
    """The confidence, and a remark to append to the reason."""
    if harm >= Harm.UNKNOWN:
        return Confidence.REVIEW, ""
    if uses.count >= USES_FOR_HIGH:
        return Confidence.HIGH, ""
    if uses.count >= USES_FOR_MEDIUM:
        return Confidence.MEDIUM, ""
    return Confidence.REVIEW, "; seldom used"


# Characters that can't be written literally in a rule, which must be one line.
_UNWRITABLE = re.compile(r"[*()\\\n\r\t\x00-\x1f]|:$|^\s|\s$")


def _is_writable(text: str) -> bool:
    return 0 < len(text) <= LONGEST_RULE and _UNWRITABLE.search(text) is None


def _group_head(command: ShellCommand) -> Words:
    """The first words of a command whose judgement has no head, as `stats bash` groups them."""
    words = command.words
    sub = subcommand(words, command.dynamic)
    head = words[:2] if sub is not None and words[1] == sub else words[:1]
    # Mask before cutting: half a secret would no longer be recognised.
    return tuple(mask(word)[:LONGEST_WORD] if len(word) > LONGEST_WORD else word for word in head)


def _refused_pattern(command: ShellCommand, judgement: Judgement, line: str) -> str:
    """`rm -rf *` for `rm -rf build`: recognisable, but without operands or secrets."""
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
    """The option without its value, which may be a password: `--token=`, `-p` of `-phunter2`."""
    name, equals, _ = word.partition("=")
    has_attached_value = word[:2] != "--" and len(word) > LONGEST_BUNDLE
    return word[:2] if has_attached_value else f"{name}{equals}"[:LONGEST_WORD]
