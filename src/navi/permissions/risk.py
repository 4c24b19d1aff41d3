"""Judges whether a command can do harm, from its name and every argument."""

from __future__ import annotations

from itertools import takewhile
from typing import NamedTuple

from navi.permissions.bash_rule import matches
from navi.permissions.guards import names_a_secret
from navi.permissions.readers_table import READS
from navi.permissions.risk_table import (
    HARMFUL_VARIABLES,
    HARMLESS_VARIABLES,
    LEADING_OPTIONS,
    LONGEST_KEY,
    TABLE,
)
from navi.permissions.script_risk import SPECIAL
from navi.permissions.shell.shell_command import (
    FLAGS,
    PREFIXES,
    RUNNERS,
    SHELLS,
    ShellCommand,
    base_name,
    names,
)
from navi.permissions.shell.shell_line import ShellLine
from navi.permissions.verdict import Entry, Harm, Judgement, Key, caught_option, unknown_option


class JudgedLine(NamedTuple):
    commands: tuple[ShellCommand, ...]
    judgements: tuple[Judgement, ...]
    """One for each command; a wrapper is as harmful as the worst command it runs."""
    worst: Judgement
    is_understood: bool


NOTHING = Judgement(Harm.NONE, "runs nothing")
NOT_UNDERSTOOD = Judgement(Harm.UNKNOWN, "could not be read with certainty")
SHOWS_SECRETS = Judgement(Harm.DONE, "names a file that may hold secrets")
WRITES_TO_FILE = "writes to a file"
# They add no risk to the command they run, and Claude Code ignores them too.
LOOKED_THROUGH = names("timeout time nice nohup stdbuf")
_TRANSPARENT = LOOKED_THROUGH | names("env gtimeout ionice command builtin exec setsid xargs")
_INTERPRETERS = names(
    "python python2 python3 pypy pypy3 node nodejs deno bun perl ruby php lua luajit Rscript tclsh "
    "ts-node tsx swift julia elixir ghci irb groovy scala jshell awk gawk mawk nawk ipython"
)
_CODE_OPTIONS = names("-c -e -E -r -p -n -i --eval --print --execute -")
_SYSTEM_FOLDERS = (
    "/bin/",
    "/usr/bin/",
    "/usr/local/bin/",
    "/sbin/",
    "/usr/sbin/",
    "/opt/homebrew/bin/",
)
_TOOL_FOLDERS = (".venv/bin/", "venv/bin/", "node_modules/.bin/", "vendor/bin/")
_HARMLESS_TARGETS = names("/dev/null /dev/stdout /dev/stderr /dev/tty")


def judge(line: ShellLine) -> JudgedLine:
    commands = line.commands
    judgements: list[Judgement] = [NOTHING] * len(commands)
    inner: dict[int, list[Judgement]] = {}
    # A command comes before the commands it runs, so judge from the end.
    for place in range(len(commands) - 1, -1, -1):
        judgement = judge_command(commands[place], inner.get(place, []))
        judgements[place] = judgement
        if commands[place].parent >= 0:
            inner.setdefault(commands[place].parent, []).append(judgement)
    worst = max(judgements, key=lambda judgement: judgement.harm, default=NOTHING)
    if not line.is_understood and worst.harm < Harm.UNKNOWN:
        worst = NOT_UNDERSTOOD
    return JudgedLine(commands, tuple(judgements), worst, line.is_understood)


def judge_command(command: ShellCommand, inner: list[Judgement]) -> Judgement:
    """`inner` holds the judgements of the commands that this one runs."""
    own = _judge_words(command, inner) if command.words else NOTHING
    around = max(
        (_judge_redirections(command), _judge_assignments(command)),
        key=lambda judgement: judgement.harm,
    )
    if max(own.harm, around.harm) < Harm.DONE and _names_a_secret(command):
        return SHOWS_SECRETS
    if around.harm > Harm.NONE and around.harm >= own.harm:
        # Claude Code always asks about these.
        return around
    if command.is_unknown and own.harm < Harm.UNKNOWN:
        return Judgement(Harm.UNKNOWN, "may not be what it looks like")
    return own


_SEARCHERS = names("grep egrep fgrep rg ag")
_WHOLE_DISK = names("/ ~ ~/ /etc /etc/ /root /home /proc")


def _names_a_secret(command: ShellCommand) -> bool:
    if command.words and command.words[0] in _SEARCHERS and _WHOLE_DISK.intersection(command.words):
        return True
    sources = [target for operator, target in command.redirections if "<" in operator and target]
    return names_a_secret(" ".join((*command.words, *sources)))


def _judge_redirections(command: ShellCommand) -> Judgement:
    for operator, target in command.redirections:
        if target is not None and target.startswith(("/dev/tcp/", "/dev/udp/")):
            return Judgement(Harm.DONE, "accesses the network")
        if ">" not in operator:
            continue
        is_descriptor = operator.endswith("&-") or (
            operator.endswith("&") and target is not None and target.rstrip("-").isdigit()
        )
        if not is_descriptor and target not in _HARMLESS_TARGETS:
            return Judgement(Harm.DONE, WRITES_TO_FILE)
    return NOTHING


def _judge_assignments(command: ShellCommand) -> Judgement:
    return _judge_variables([name for name, _ in command.assignments], bool(command.words))


def _judge_variables(variables: list[str], is_for_command: bool) -> Judgement:
    worst = NOTHING
    for written in variables:
        name = written.rstrip("+").partition("[")[0]
        if name in HARMFUL_VARIABLES or name.startswith(("LD_", "DYLD_", "GIT_", "BASH_")):
            return Judgement(Harm.DONE, f"sets {name}, which decides what runs")
        if name in HARMLESS_VARIABLES or (not is_for_command and name.islower()):
            continue
        worst = Judgement(Harm.UNKNOWN, f"sets {name}")
    return worst


def _judge_words(command: ShellCommand, inner: list[Judgement]) -> Judgement:
    words = command.words
    if 0 in command.dynamic:
        return _worst_with(inner, Harm.UNKNOWN, "what it runs is decided at run time")
    name = _table_name(words[0])
    if name is None:
        return _worst_with(inner, Harm.UNKNOWN, "runs an unknown program")
    if name in SHELLS:
        return _judge_shell(command, inner)
    if name in _TRANSPARENT:
        return _judge_wrapper(name, command, inner)
    if (name, words[1] if len(words) > 1 else "") in RUNNERS:
        return _judge_runner(command, inner)
    if name in PREFIXES:
        entry = TABLE.get((name,), _UNKNOWN)
        return _worst_with(inner, entry.harm, entry.reason)
    worst = max((judgement.harm for judgement in inner), default=Harm.NONE)
    own = _judge_named(name, command)
    if worst > own.harm:
        return Judgement(worst, next(each.reason for each in inner if each.harm == worst))
    return own._replace(head=None, guards=None) if inner else own


def _judge_named(name: str, command: ShellCommand) -> Judgement:
    words = (name, *command.words[1:])
    special = SPECIAL.get(name)
    if special is not None:
        return special(words, command.dynamic)
    if name in _CONTROL_FLOW:
        return Judgement(Harm.NONE, "belongs to the shell's own language")
    rest = _without_leading_options(words)
    if rest is None:
        return Judgement(Harm.UNKNOWN, "has options in front that can change what it does")
    is_direct = rest == command.words
    words = rest
    entries = _entries(words)
    if not entries:
        return _judge_interpreter(words) if name in _INTERPRETERS else _UNKNOWN_COMMAND
    key, entry = entries[0]
    skipped = len(command.words) - len(words)
    if any(0 < at < len(key) + skipped for at in command.dynamic):
        return Judgement(Harm.UNKNOWN, "what it does is decided at run time")
    judgement = _judge_entry(words, key, entry, bool(command.dynamic), is_direct)
    if judgement.harm > Harm.PROJECT and len(entries) > 1 and entries[1][1].only is not None:
        # No wide rule fits, but the shorter entry may allow this exact command.
        shorter = _judge_entry(words, *entries[1], bool(command.dynamic), is_direct)
        return min(shorter, judgement, key=lambda one: one.harm)
    return judgement


def _judge_entry(
    words: Key, key: Key, entry: Entry, is_dynamic: bool, is_direct: bool
) -> Judgement:
    head = key if is_direct else None
    guards = entry.guards if is_direct else None
    if entry.harm >= Harm.UNKNOWN:
        return Judgement(Harm.DONE if _is_forced(words) else entry.harm, entry.reason, head)
    arguments = words[len(key) :]
    caught = caught_option(arguments, entry.unless) or _guarded(words, key, entry.guards or ())
    if caught:
        reason = f"{caught} can make it write, run or show something"
        return Judgement(Harm.DONE, reason, head, guards)
    if entry.only is not None and (option := unknown_option(arguments, entry.only)):
        return Judgement(Harm.UNKNOWN, f"{option} is not known to be harmless", head)
    if entry.operands is not None:
        operands = [word for word in arguments if word[:1] not in ("-", "+")]
        if entry.operands < 0 and arguments:
            return Judgement(Harm.UNKNOWN, "has more arguments than are known to be harmless", head)
        if len(operands) > max(entry.operands, 0):
            return Judgement(Harm.DONE, "can change something with these arguments", head)
    # `tsc --noEmit false` is not `tsc --noEmit`.
    if entry.needs and ("false" in arguments or not entry.needs.intersection(arguments)):
        needed = sorted(entry.needs, key=len)[-1]
        return Judgement(Harm.DONE, f"rewrites files without {needed}", head)
    if is_dynamic and entry.guards is None:
        return Judgement(Harm.UNKNOWN, "its arguments are only known at run time", head)
    return Judgement(entry.harm, entry.reason, head, guards)


def _guarded(words: Key, key: Key, guards: tuple[str, ...]) -> str | None:
    """The argument that a guard would catch, or the whole command."""
    text = " ".join(words)
    guard = next((guard for guard in guards if matches(guard, text)), None)
    if guard is None:
        return None
    head = " ".join(key)
    return next((word for word in words[len(key) :] if matches(guard, f"{head} {word}")), text)


# Claude Code never asks about these.
_CONTROL_FLOW = names("exit return break continue wait set")
_UNKNOWN = Entry(Harm.UNKNOWN, "runs another command")
_UNKNOWN_COMMAND = Judgement(Harm.UNKNOWN, "is not known to be harmless")


def _worst_with(inner: list[Judgement], harm: Harm, reason: str) -> Judgement:
    worst = max(inner, key=lambda judgement: judgement.harm, default=NOTHING)
    return Judgement(worst.harm, worst.reason) if worst.harm > harm else Judgement(harm, reason)


def _table_name(word: str) -> str | None:
    """The name to look up in the tables; None for a program in an unusual folder."""
    if "/" not in word:
        return word
    folder, name = word[: word.rfind("/") + 1], base_name(word)
    if folder in _SYSTEM_FOLDERS:
        return name
    is_tool = folder.endswith(_TOOL_FOLDERS)
    entry = TABLE.get((name,))
    if is_tool and (name in _INTERPRETERS or (entry is not None and entry.harm == Harm.PROJECT)):
        return name
    if is_tool and name in ("ruff", "pip"):
        return name
    return word if (word,) in TABLE else None


def _without_leading_options(words: Key) -> Key | None:
    """The words without options before the subcommand; None if one may change its effect."""
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


def _entries(words: Key) -> list[tuple[Key, Entry]]:
    """The table's entries for the first words, longest first."""
    lengths = range(min(LONGEST_KEY, len(words)), 0, -1)
    return [
        (words[:length], TABLE[words[:length]]) for length in lengths if words[:length] in TABLE
    ]


def _is_forced(words: Key) -> bool:
    return words[:2] in (("pip", "install"), ("npm", "install"), ("npm", "i")) and any(
        word[:1] not in ("-", ".") and not word.endswith(".txt") for word in words[2:]
    )


def _judge_shell(command: ShellCommand, inner: list[Judgement]) -> Judgement:
    words = command.words
    if len(words) == 2 and words[1] in ("--version", "--help"):
        return Judgement(Harm.NONE, READS)
    scripts = [word for word in words[1:] if word[:1] not in ("-", "+")]
    if inner or not scripts or any("c" in word for word in words[1:] if word[:1] == "-"):
        return Judgement(Harm.DONE, "runs code given as text")
    if "-n" in words:
        return Judgement(Harm.NONE, "checks the syntax of a script")
    return Judgement(Harm.UNKNOWN, "runs a script")


def _judge_wrapper(name: str, command: ShellCommand, inner: list[Judgement]) -> Judgement:
    words = command.words
    if name == "time" and caught_option(words[1:2], names("-o --output -a --append")):
        return Judgement(Harm.DONE, WRITES_TO_FILE)
    if name == "env":
        set_here = [word.partition("=")[0] for word in words[1:] if "=" in word and word[0] != "-"]
        variables = _judge_variables(set_here, True)
        if variables.harm > Harm.NONE:
            inner = [*inner, variables]
    if name == "command" and not inner:
        return Judgement(Harm.NONE, "only shows where a command is")
    if not inner and name == "env":
        return Judgement(Harm.DONE, TABLE["env",].reason)
    if not inner:
        return Judgement(Harm.UNKNOWN, "runs nothing known")
    worst = max(inner, key=lambda judgement: judgement.harm)
    if name == "xargs" and worst.harm < Harm.UNKNOWN:
        return Judgement(Harm.UNKNOWN, "runs it with arguments only known at run time")
    return Judgement(worst.harm, worst.reason)


def _judge_runner(command: ShellCommand, inner: list[Judgement]) -> Judgement:
    if not inner:
        return Judgement(Harm.UNKNOWN, "runs an unknown program")
    worst = max(inner, key=lambda judgement: judgement.harm)
    # Other runners run whatever the repository calls by that name.
    is_transparent = command.words[0] in ("uv", "poetry", "pipenv") and worst.harm > Harm.NONE
    flags = FLAGS.get(" ".join(command.words[:2]), frozenset())
    options = takewhile(lambda word: word.startswith("-"), command.words[2:])
    if not is_transparent or not all(option in flags for option in options):
        return Judgement(max(worst.harm, Harm.UNKNOWN), worst.reason)
    head = (*command.words[:2], *worst.head) if worst.head else None
    if head is None or command.words[: len(head)] != head:
        return Judgement(worst.harm, worst.reason)
    return Judgement(worst.harm, worst.reason, head, worst.guards)


def _judge_interpreter(words: Key) -> Judgement:
    arguments = words[1:]
    # Only options before the script's name belong to the interpreter.
    for word in arguments:
        if word == "-" or (word[:1] == "-" and _is_code_option(word)):
            return Judgement(Harm.DONE, "runs code given as text")
        if word[:1] != "-":
            if word in ("eval", "repl"):
                return Judgement(Harm.DONE, "runs code given as text")
            return Judgement(Harm.UNKNOWN, "runs a script")
        if word == "-m":
            return Judgement(Harm.UNKNOWN, "runs an unknown module")
    return Judgement(Harm.DONE, "runs whatever it is given")


def _is_code_option(word: str) -> bool:
    name = word.partition("=")[0]
    if name.startswith("--"):
        return name in _CODE_OPTIONS
    return name in _CODE_OPTIONS or any(sign in word[1:] for sign in "ceErpi")
