"""Judges whether a command can do harm, from its name and every argument."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import NamedTuple

from navi.permissions.bash_rule import matches
from navi.permissions.guards import names_secret_file
from navi.permissions.judgement import (
    DYNAMIC_ARGUMENTS,
    NO_ARGUMENTS,
    Entry,
    Harm,
    Judgement,
    Words,
    harmful_option,
    unknown_option,
)
from navi.permissions.readers_table import READS
from navi.permissions.risk_table import (
    HARMFUL_VARIABLES,
    HARMLESS_VARIABLES,
    LEADING_OPTIONS,
    LONGEST_KEY,
    TABLE,
)
from navi.permissions.script_risk import JUDGES
from navi.permissions.shell.shell_command import (
    FLAGS,
    PREFIXES,
    RUNNERS,
    SHELLS,
    ShellCommand,
    base_name,
    word_set,
)
from navi.permissions.shell.shell_line import ShellLine


class JudgedLine(NamedTuple):
    commands: tuple[ShellCommand, ...]
    judgements: tuple[Judgement, ...]
    """One for each command; a wrapper is at least as harmful as the worst command it runs."""
    worst: Judgement
    is_understood: bool


NOTHING = Judgement(Harm.NONE, "runs nothing")
NOT_UNDERSTOOD = Judgement(Harm.UNKNOWN, "could not be parsed reliably")
MAY_SHOW_SECRETS = Judgement(Harm.CERTAIN, "names a file that may hold secrets")
WRITES_TO_FILE = "writes to a file"
# Wrappers that add no risk to the command they run; Claude Code ignores them too.
HARMLESS_WRAPPERS = word_set("timeout time nice nohup stdbuf")
_WRAPPERS = HARMLESS_WRAPPERS | word_set("env gtimeout ionice command builtin exec setsid xargs")
_INTERPRETERS = word_set(
    "python python2 python3 pypy pypy3 node nodejs deno bun perl ruby php lua luajit Rscript tclsh "
    "ts-node tsx swift julia elixir ghci irb groovy scala jshell awk gawk mawk nawk ipython"
)
_CODE_OPTIONS = word_set("-c -e -E -r -p -n -i --eval --print --execute -")
_SYSTEM_FOLDERS = (
    "/bin/",
    "/usr/bin/",
    "/usr/local/bin/",
    "/sbin/",
    "/usr/sbin/",
    "/opt/homebrew/bin/",
)
_TOOL_FOLDERS = (".venv/bin/", "venv/bin/", "node_modules/.bin/", "vendor/bin/")
_HARMLESS_TARGETS = word_set("/dev/null /dev/stdout /dev/stderr /dev/tty")


def judge(line: ShellLine) -> JudgedLine:
    commands = line.commands
    judgements: list[Judgement] = [NOTHING] * len(commands)
    inner: dict[int, list[Judgement]] = {}
    # A command comes before the commands it runs, so judge from the end.
    for index in reversed(range(len(commands))):
        command = commands[index]
        judgements[index] = judge_command(command, inner.get(index, []))
        if command.parent >= 0:
            inner.setdefault(command.parent, []).append(judgements[index])
    worst = _worst(judgements)
    if not line.is_understood and worst.harm < Harm.UNKNOWN:
        worst = NOT_UNDERSTOOD
    return JudgedLine(commands, tuple(judgements), worst, line.is_understood)


def judge_command(command: ShellCommand, inner: list[Judgement]) -> Judgement:
    """`inner` holds the judgements of the commands that this one runs."""
    own = _judge_words(command, inner) if command.words else NOTHING
    surroundings = _worst([_judge_redirections(command), _judge_assignments(command)])
    # Secrets outweigh everything but certain harm, whose reason is more specific.
    if max(own.harm, surroundings.harm) < Harm.CERTAIN and _may_show_secrets(command):
        return MAY_SHOW_SECRETS
    # If both are equally harmful, the surroundings count: Claude Code always asks about such
    # redirections and assignments, so no wide rule would help.
    if surroundings.harm > Harm.NONE and surroundings.harm >= own.harm:
        return surroundings
    if command.is_unknown and own.harm < Harm.UNKNOWN:
        return Judgement(Harm.UNKNOWN, "may run something other than it appears to")
    return own


def _worst(judgements: Iterable[Judgement]) -> Judgement:
    return max(judgements, key=lambda judgement: judgement.harm, default=NOTHING)


def _or_worse(judgement: Judgement, inner: list[Judgement]) -> Judgement:
    """The judgement, or that of the worst inner command if it is worse."""
    worst = _worst(inner)
    return Judgement(worst.harm, worst.reason) if worst.harm > judgement.harm else judgement


_SEARCHERS = word_set("grep egrep fgrep rg ag")
_BROAD_FOLDERS = word_set("/ ~ ~/ /etc /etc/ /root /home /proc")


def _may_show_secrets(command: ShellCommand) -> bool:
    if (
        command.words
        and command.words[0] in _SEARCHERS
        and _BROAD_FOLDERS.intersection(command.words)
    ):
        return True
    sources = [target for operator, target in command.redirections if "<" in operator and target]
    return names_secret_file(" ".join((*command.words, *sources)))


def _judge_redirections(command: ShellCommand) -> Judgement:
    for operator, target in command.redirections:
        if target is not None and target.startswith(("/dev/tcp/", "/dev/udp/")):
            return Judgement(Harm.CERTAIN, "accesses the network")
        if ">" not in operator:
            continue
        is_descriptor = operator.endswith("&-") or (
            operator.endswith("&") and target is not None and target.rstrip("-").isdigit()
        )
        if not is_descriptor and target not in _HARMLESS_TARGETS:
            return Judgement(Harm.CERTAIN, WRITES_TO_FILE)
    return NOTHING


def _judge_assignments(command: ShellCommand) -> Judgement:
    return _judge_variables([name for name, _ in command.assignments], bool(command.words))


def _judge_variables(variables: list[str], is_for_command: bool) -> Judgement:
    worst = NOTHING
    for variable in variables:
        name = variable.rstrip("+").partition("[")[0]
        if name in HARMFUL_VARIABLES or name.startswith(("LD_", "DYLD_", "GIT_", "BASH_")):
            return Judgement(Harm.CERTAIN, f"sets {name}, which decides what runs")
        if name in HARMLESS_VARIABLES or (not is_for_command and name.islower()):
            continue
        worst = Judgement(Harm.UNKNOWN, f"sets {name}")
    return worst


def _judge_words(command: ShellCommand, inner: list[Judgement]) -> Judgement:
    words = command.words
    if 0 in command.dynamic:
        return _or_worse(Judgement(Harm.UNKNOWN, "what it runs is decided at run time"), inner)
    name = _table_name(words[0])
    if name is None:
        return _or_worse(Judgement(Harm.UNKNOWN, "runs an unknown program"), inner)
    if name in SHELLS:
        return _judge_shell(command, inner)
    if name in _WRAPPERS:
        return _judge_wrapper(name, command, inner)
    if (name, words[1] if len(words) > 1 else "") in RUNNERS:
        return _judge_runner(command, inner)
    if name in PREFIXES:
        entry = TABLE.get((name,), _UNKNOWN_PREFIX)
        return _or_worse(Judgement(entry.harm, entry.reason), inner)
    judgement = _or_worse(_judge_named(name, command), inner)
    return judgement._replace(head=None, guards=None) if inner else judgement


def _judge_named(name: str, command: ShellCommand) -> Judgement:
    all_words = (name, *command.words[1:])
    judge_arguments = JUDGES.get(name)
    if judge_arguments is not None:
        return judge_arguments(all_words, command.dynamic)
    if name in _CONTROL_FLOW:
        return Judgement(Harm.NONE, "belongs to the shell's own language")
    words = _without_leading_options(all_words)
    if words is None:
        reason = "has options before its subcommand that can change what it does"
        return Judgement(Harm.UNKNOWN, reason)
    is_as_written = words == command.words
    entries = _entries(words)
    if not entries:
        return _judge_interpreter(words) if name in _INTERPRETERS else _UNKNOWN_COMMAND
    key, entry = entries[0]
    skipped = len(command.words) - len(words)
    if any(0 < at < len(key) + skipped for at in command.dynamic):
        return Judgement(Harm.UNKNOWN, "what it does is decided at run time")
    judgement = _judge_entry(words, key, entry, bool(command.dynamic), is_as_written)
    if (
        judgement.harm > Harm.RUNS_CHECKS
        and len(entries) > 1
        and entries[1][1].harmless_options is not None
    ):
        # No wide rule fits, but the shorter entry may allow this exact command.
        shorter = _judge_entry(words, *entries[1], bool(command.dynamic), is_as_written)
        return shorter if shorter.harm <= judgement.harm else judgement
    return judgement


def _judge_entry(
    words: Words, key: Words, entry: Entry, is_dynamic: bool, is_as_written: bool
) -> Judgement:
    # A wide rule matches only commands that begin with `key` as they are written.
    head = key if is_as_written else None
    guards = entry.guards if is_as_written else None
    if entry.harm >= Harm.UNKNOWN:
        harm = Harm.CERTAIN if _installs_named_packages(words) else entry.harm
        return Judgement(harm, entry.reason, head)
    arguments = words[len(key) :]
    harmful = harmful_option(arguments, entry.harmful_options)
    harmful = harmful or _caught_by_guard(words, key, entry.guards or ())
    if harmful:
        reason = f"{harmful} can make it write, run or show something"
        return Judgement(Harm.CERTAIN, reason, head, guards)
    harmless = entry.harmless_options
    if harmless is not None and (option := unknown_option(arguments, harmless)):
        return Judgement(Harm.UNKNOWN, f"{option} is not known to be harmless", head)
    if entry.max_operands is not None:
        operands = [word for word in arguments if word[:1] not in ("-", "+")]
        if entry.max_operands == NO_ARGUMENTS and arguments:
            return Judgement(Harm.UNKNOWN, "has more arguments than are known to be harmless", head)
        if len(operands) > max(entry.max_operands, 0):
            return Judgement(Harm.CERTAIN, "can change something with these arguments", head)
    # `tsc --noEmit false` is not `tsc --noEmit`.
    needs = entry.needs_one_of
    if needs and ("false" in arguments or not needs.intersection(arguments)):
        needed = max(sorted(needs), key=len)
        return Judgement(Harm.CERTAIN, f"rewrites files unless {needed} is given", head)
    if is_dynamic and entry.guards is None:
        return Judgement(Harm.UNKNOWN, DYNAMIC_ARGUMENTS, head)
    return Judgement(entry.harm, entry.reason, head, guards)


def _caught_by_guard(words: Words, key: Words, guards: tuple[str, ...]) -> str | None:
    """The argument that a guard catches, or the whole command if no argument is caught alone.

    None if no guard matches.
    """
    text = " ".join(words)
    guard = next((guard for guard in guards if matches(guard, text)), None)
    if guard is None:
        return None
    head = " ".join(key)
    return next((word for word in words[len(key) :] if matches(guard, f"{head} {word}")), text)


# Claude Code never asks about these.
_CONTROL_FLOW = word_set("exit return break continue wait set")
_UNKNOWN_PREFIX = Entry(Harm.UNKNOWN, "runs another command")
_UNKNOWN_COMMAND = Judgement(Harm.UNKNOWN, "is not known to be harmless")


def _table_name(word: str) -> str | None:
    """The name to look up in the tables; None for a program in an unusual folder."""
    if "/" not in word:
        return word
    folder, name = word[: word.rfind("/") + 1], base_name(word)
    if folder in _SYSTEM_FOLDERS:
        return name
    is_tool = folder.endswith(_TOOL_FOLDERS)
    entry = TABLE.get((name,))
    if is_tool and (
        name in _INTERPRETERS or (entry is not None and entry.harm == Harm.RUNS_CHECKS)
    ):
        return name
    if is_tool and name in ("ruff", "pip"):
        return name
    return word if (word,) in TABLE else None


def _without_leading_options(words: Words) -> Words | None:
    """The words without the options before the subcommand.

    None if one of them may change what the command does.
    """
    if words[0] not in LEADING_OPTIONS:
        return words
    flags, valued = LEADING_OPTIONS[words[0]]
    at = 1
    while at < len(words) and words[at][:1] == "-" and words[:2] not in TABLE:
        option, equals, _ = words[at].partition("=")
        if option in valued:
            at += 1 if equals else 2
        elif words[at] in flags:
            at += 1
        else:
            return None
    return (words[0], *words[at:])


def _entries(words: Words) -> list[tuple[Words, Entry]]:
    """The table's entries for the first words, longest first."""
    lengths = range(min(LONGEST_KEY, len(words)), 0, -1)
    return [
        (words[:length], TABLE[words[:length]]) for length in lengths if words[:length] in TABLE
    ]


def _installs_named_packages(words: Words) -> bool:
    return words[:2] in (("pip", "install"), ("npm", "install"), ("npm", "i")) and any(
        word[:1] not in ("-", ".") and not word.endswith(".txt") for word in words[2:]
    )


def _judge_shell(command: ShellCommand, inner: list[Judgement]) -> Judgement:
    words = command.words
    if len(words) == 2 and words[1] in ("--version", "--help"):
        return Judgement(Harm.NONE, READS)
    scripts = [word for word in words[1:] if word[:1] not in ("-", "+")]
    if inner or not scripts or any("c" in word for word in words[1:] if word[:1] == "-"):
        return Judgement(Harm.CERTAIN, "runs code given as text")
    if "-n" in words:
        return Judgement(Harm.NONE, "checks the syntax of a script")
    return Judgement(Harm.UNKNOWN, "runs a script")


def _judge_wrapper(name: str, command: ShellCommand, inner: list[Judgement]) -> Judgement:
    arguments = command.words[1:]
    if name == "time" and harmful_option(arguments[:1], word_set("-o --output -a --append")):
        return Judgement(Harm.CERTAIN, WRITES_TO_FILE)
    if name == "command" and not inner:
        return Judgement(Harm.NONE, "only shows where a command is")
    if name == "env":
        assignments = [word for word in arguments if "=" in word and word[0] != "-"]
        variables = [word.partition("=")[0] for word in assignments]
        judgement = _judge_variables(variables, is_for_command=True)
        if judgement.harm > Harm.NONE:
            inner = [*inner, judgement]
        if not inner:
            return Judgement(Harm.CERTAIN, TABLE["env",].reason)
    if not inner:
        return Judgement(Harm.UNKNOWN, "runs an unknown command")
    worst = _worst(inner)
    if name == "xargs" and worst.harm < Harm.UNKNOWN:
        return Judgement(Harm.UNKNOWN, "runs a command with arguments known only at run time")
    return Judgement(worst.harm, worst.reason)


def _judge_runner(command: ShellCommand, inner: list[Judgement]) -> Judgement:
    if not inner:
        return Judgement(Harm.UNKNOWN, "runs an unknown program")
    worst = _worst(inner)
    # With any other runner, the repository decides which program has that name.
    is_transparent = command.words[0] in ("uv", "poetry", "pipenv") and worst.harm > Harm.NONE
    flags = FLAGS.get(" ".join(command.words[:2]), frozenset())
    options = takewhile(lambda word: word.startswith("-"), command.words[2:])
    if not is_transparent or not all(option in flags for option in options):
        return Judgement(max(worst.harm, Harm.UNKNOWN), worst.reason)
    head = (*command.words[:2], *worst.head) if worst.head else None
    if head is None or command.words[: len(head)] != head:
        return Judgement(worst.harm, worst.reason)
    return Judgement(worst.harm, worst.reason, head, worst.guards)


def _judge_interpreter(words: Words) -> Judgement:
    arguments = words[1:]
    # Only options before the script's name belong to the interpreter.
    for word in arguments:
        if word == "-" or (word[:1] == "-" and _is_code_option(word)):
            return Judgement(Harm.CERTAIN, "runs code given as text")
        if word[:1] != "-":
            if word in ("eval", "repl"):
                return Judgement(Harm.CERTAIN, "runs code given as text")
            return Judgement(Harm.UNKNOWN, "runs a script")
        if word == "-m":
            return Judgement(Harm.UNKNOWN, "runs an unknown module")
    return Judgement(Harm.CERTAIN, "runs any code on its input")


def _is_code_option(word: str) -> bool:
    name = word.partition("=")[0]
    if name.startswith("--"):
        return name in _CODE_OPTIONS
    return name in _CODE_OPTIONS or any(letter in word[1:] for letter in "ceErpi")
