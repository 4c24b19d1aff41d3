"""Judges commands that need more than a table, mostly because an argument is a small program."""

from __future__ import annotations

import re
from collections.abc import Callable

from navi.permissions.judgement import (
    DYNAMIC_ARGUMENTS,
    Harm,
    Judgement,
    Words,
    harmful_option,
    unknown_option,
)
from navi.permissions.risk_table import TABLE
from navi.permissions.shell.shell_command import FD_RUNS, inner_commands, word_set

_FIND_HARMLESS = word_set(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -type -xtype -size -mtime "
    "-mmin -atime -amin -ctime -cmin -newer -newermt -anewer -cnewer -empty -maxdepth -mindepth "
    "-not -a -and -o -or -print -print0 -printf -ls -prune -depth -d -follow -L -H -P -xdev -mount "
    "-perm -user -group -uid -gid -nouser -nogroup -readable -writable -executable -links -inum "
    "-samefile -quit -true -false -daystart -regextype -lname -ilname -used -E -s -x -exec "
    "-execdir -noleaf -warn"
)
_FIND_GUARDS = TABLE["find",].guards
_FIND_WRITES = word_set("-delete -fprint -fprint0 -fprintf -fls -ok -okdir")


def _judge_find(words: Words, dynamic: frozenset[int]) -> Judgement:
    # The command that -exec runs is judged separately.
    own_indexes = set(range(1, len(words)))
    inner_parts = list(inner_commands(words))
    for inner in inner_parts:
        own_indexes -= set(range(inner.start, inner.stop))
    words = tuple(word for at, word in enumerate(words) if at in own_indexes)
    dynamic = frozenset(own_indexes & dynamic)
    for word in words:
        if word in _FIND_WRITES:
            return Judgement(Harm.CERTAIN, f"{word} deletes or writes", ("find",), _FIND_GUARDS)
    if inner_parts:
        return Judgement(Harm.UNKNOWN, "runs a command for each file")
    if dynamic or not all(map(_is_harmless_in_find, words)):
        return Judgement(Harm.UNKNOWN, "has arguments that are not known to be harmless", ("find",))
    return Judgement(Harm.NONE, "only lists files", ("find",), _FIND_GUARDS)


def _is_harmless_in_find(word: str) -> bool:
    return word[:1] != "-" or word in _FIND_HARMLESS or word[1:2].isdigit() or word == "-"


def _judge_fd(words: Words, dynamic: frozenset[int]) -> Judgement:
    if harmful_option(words[1:], FD_RUNS):
        return Judgement(Harm.UNKNOWN, "runs a command for each file")
    if dynamic:
        return Judgement(Harm.UNKNOWN, DYNAMIC_ARGUMENTS)
    return Judgement(Harm.NONE, "only lists files")


# All quantifiers are possessive, so that a script of many blanks does not take forever.
_ADDRESS = r"(?:\d++(?:~\d++)?|\$|/(?:[^/\\\n]|\\.)*+/I?)"
_ADDRESSES = rf"(?:{_ADDRESS}(?:,(?:{_ADDRESS}|[+~]\d++))?)?+[ \t]*+!?+[ \t]*+"
_SUBSTITUTION = "|".join(
    rf"s{mark}(?:[^{mark}\\\n]|\\.)*+{mark}(?:[^{mark}\\\n]|\\.)*+{mark}[gpiI\d]*+"
    for mark in ("/", r"\|", "#", ",", "@", "!", ":")
)
_SED_COMMAND = rf"{_ADDRESSES}(?:[pdqQ=DGghHnNPxlz]|{_SUBSTITUTION})[ \t]*+"
_SED_SCRIPT = re.compile(rf"\s*+{_SED_COMMAND}(?:[;\n]\s*+(?:{_SED_COMMAND})?+)*+")
_SED_OPTIONS = word_set("--quiet --silent --regexp-extended --debug")


def _judge_sed(words: Words, dynamic: frozenset[int]) -> Judgement:
    scripts: list[str] = []
    operands: list[str] = []
    at = 1
    while at < len(words):
        word = words[at]
        at += 1
        if word in ("-e", "--expression") and at < len(words):
            scripts.append(words[at])
            at += 1
        elif word.startswith("--expression="):
            scripts.append(word.partition("=")[2])
        elif word[:1] == "-" and len(word) > 1:
            if word.startswith("--in") or (word[1] != "-" and re.search("[iI]", word)):
                return Judgement(Harm.CERTAIN, "-i edits files in place")
            if word not in _SED_OPTIONS and not re.fullmatch("-[nErsuz]+", word):
                return Judgement(Harm.UNKNOWN, "has options that are not known to be harmless")
        else:
            operands.append(word)
    if not scripts and operands:
        scripts.append(operands[0])
    if dynamic:
        return Judgement(Harm.UNKNOWN, DYNAMIC_ARGUMENTS)
    if not scripts or not all(_SED_SCRIPT.fullmatch(script) for script in scripts):
        return Judgement(Harm.UNKNOWN, "has a script that can write files or run commands")
    return Judgement(Harm.NONE, "only prints")


def _judge_awk(words: Words, dynamic: frozenset[int]) -> Judgement:
    at = 1
    while at < len(words) and words[at][:1] == "-" and len(words[at]) > 1:
        if words[at] in ("-F", "-v"):
            at += 2
        elif words[at][:2] in ("-F", "-v"):
            at += 1
        else:
            return Judgement(Harm.UNKNOWN, "has options that are not known to be harmless")
    program = words[at] if at < len(words) else ""
    if "ENVIRON" in program:
        return Judgement(Harm.CERTAIN, "shows the environment, with the secrets in it")
    if "system" in program or dynamic:
        harm = Harm.UNKNOWN if dynamic else Harm.CERTAIN
        return Judgement(harm, "can run other commands")
    if re.search(r"[|>@]|getline", program):
        return Judgement(Harm.UNKNOWN, "has a program that can write files or run commands")
    return Judgement(Harm.NONE, "only prints")


_HARMLESS_OPTIONS = {
    "jq": word_set(
        "-r -c -s -n -e -S -a -j -M -C -rc -cr -rs -sr -nr -rn --raw-output --compact-output "
        "--slurp --null-input --exit-status --sort-keys --arg --argjson --tab --indent"
    ),
    # -s is missing because it writes a file for each document.
    "yq": word_set("-r -e -P -M -C -N -o -p --output-format --input-format --prettyPrint"),
}
_READS_MORE_THAN_ITS_INPUT = re.compile(r"env|ENV|load|import|include|input_filename|system")


def _judge_jq(words: Words, dynamic: frozenset[int]) -> Judgement:
    option = unknown_option(words[1:], _HARMLESS_OPTIONS[words[0]])
    if option:
        return Judgement(Harm.UNKNOWN, f"{option} is not known to be harmless")
    if dynamic:
        return Judgement(Harm.UNKNOWN, DYNAMIC_ARGUMENTS)
    if any(_READS_MORE_THAN_ITS_INPUT.search(word) for word in words[1:]):
        return Judgement(Harm.UNKNOWN, "can show the environment or other files")
    return Judgement(Harm.NONE, "only prints")


def _judge_printf(words: Words, dynamic: frozenset[int]) -> Judgement:
    """`-v` and `%n` set a variable, and run any code in brackets after its name."""
    if any(word.startswith("-v") or re.search("%[^%A-Za-z]*[hjlLtzq]*n", word) for word in words):
        return Judgement(Harm.CERTAIN, "can run code between a variable's brackets")
    if dynamic:
        return Judgement(Harm.UNKNOWN, DYNAMIC_ARGUMENTS)
    return Judgement(Harm.NONE, "only prints")


def _judge_test(words: Words, dynamic: frozenset[int]) -> Judgement:
    if any(word in ("-v", "-R") for word in words):
        return Judgement(Harm.CERTAIN, "-v and -R run code between a variable's brackets")
    return Judgement(Harm.NONE, "only compares")


def _judge_ps(words: Words, dynamic: frozenset[int]) -> Judgement:
    """`ps e` shows the environment of every process; `ps -e` does not."""
    shows_environment = any("E" in word or (word[:1] != "-" and "e" in word) for word in words[1:])
    if shows_environment or dynamic:
        harm = Harm.CERTAIN if shows_environment else Harm.UNKNOWN
        return Judgement(harm, "can show the environment")
    return Judgement(Harm.NONE, "only lists processes")


JUDGES: dict[str, Callable[[Words, frozenset[int]], Judgement]] = {
    "find": _judge_find,
    "fd": _judge_fd,
    "fdfind": _judge_fd,
    "sed": _judge_sed,
    "gsed": _judge_sed,
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _judge_awk),
    **dict.fromkeys(("jq", "yq"), _judge_jq),
    **dict.fromkeys(("test", "[", "[["), _judge_test),
    "printf": _judge_printf,
    "ps": _judge_ps,
}
