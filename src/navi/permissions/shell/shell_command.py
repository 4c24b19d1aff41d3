"""One simple command of a shell line, and the commands that it runs in turn.

`sudo rm x` runs `rm x`; `find . -exec grep y {} +` runs `grep y`; `bash -lc "a && b"` runs a
script, which has to be parsed as well. `inner_commands` finds these inner commands; the tables
describe the words before them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


def word_set(text: str) -> frozenset[str]:
    """A set of words, written as one string to stay readable."""
    return frozenset(text.split())


class Redirection(NamedTuple):
    operator: str
    """`>`, `>>`, `2>&`, `<`, `<<` … with the descriptor in front if one was written."""
    target: str | None
    """None if it is known only at run time, or if there is none, as in `<<EOF`."""


class ShellCommand(NamedTuple):
    words: tuple[str, ...]
    """As the command receives them; empty for a lone assignment or redirection."""
    dynamic: frozenset[int] = frozenset()
    """Indexes of words known only at run time; `words` has them as they are written."""
    text: str = ""
    """The command as written, without redirections; empty if it can't be cut out of the line."""
    assignments: tuple[tuple[str, str | None], ...] = ()
    """`A=b` before the command or alone; None for a value known only at run time."""
    redirections: tuple[Redirection, ...] = ()
    is_piped: bool = False
    parent: int = -1
    """The index of the command that runs this one, as sudo does; -1 for none."""
    is_unknown: bool = False
    """Whether it may be something other than it appears to be."""

    @property
    def name(self) -> str | None:
        """The program, as written; None if there is none or it is decided at run time."""
        return self.words[0] if self.words and 0 not in self.dynamic else None


class InnerCommand(NamedTuple):
    """A command inside another one: the outer one's words from `start` to `stop`, or `script`."""

    start: int = 0
    stop: int = 0
    script: str | None = None
    is_sure: bool = True
    """False after an unknown option: what looks like the command may be that option's value."""


# Commands that run another command: their options that take a value, and how many operands come
# before the other command.
PREFIXES: dict[str, tuple[frozenset[str], int]] = {
    name: (word_set(options), operands)
    for name, options, operands in [
        ("sudo", "-u -g -h -p -C -T -R -D -U -r -t --user --group --host --prompt --chdir", 0),
        ("doas", "-u -C", 0),
        ("env", "-u -C --unset --chdir", 0),
        ("nohup", "", 0),
        ("setsid", "", 0),
        ("time", "-f -o --format --output", 0),
        ("timeout", "-s -k --signal --kill-after", 1),
        ("gtimeout", "-s -k --signal --kill-after", 1),
        ("nice", "-n --adjustment", 0),
        ("ionice", "-c -n -p -P -u --class --classdata", 0),
        ("chrt", "-T -P -D", 1),
        ("taskset", "", 1),
        ("stdbuf", "-i -o -e --input --output --error", 0),
        ("unbuffer", "", 0),
        ("command", "", 0),
        ("builtin", "", 0),
        ("exec", "-a", 0),
        ("coproc", "", 0),
        ("busybox", "", 0),
        ("toybox", "", 0),
        ("caffeinate", "-t -w", 0),
        ("strace", "-e -o -p -s -u -E -a -b -I -O -S -P -X", 0),
        ("ltrace", "-e -o -p -s -u -a -n -l -x -D -F", 0),
        ("chroot", "--userspec --groups", 1),
        ("unshare", "-S -G -R -w --root --wd --setuid --setgid", 0),
        ("nsenter", "-t -S -G --target", 0),
        ("runuser", "-u -g -G --user --group", 0),
        ("xvfb-run", "-e -f -n -p -s -w", 0),
        ("npx", "-p --package -w --workspace", 0),
        ("bunx", "", 0),
        ("uvx", "--from --with --python -p --index --index-url", 0),
        ("xargs", "-a -d -E -I -L -n -P -s -R -S -J --arg-file --delimiter --max-lines --max-args "
         "--max-procs --max-chars --replace --process-slot-var", 0),
        ("watch", "-n -q --interval --equexit", 0),
        ("parallel", "-j -a -n -N -S -C -I --jobs --arg-file --colsep --sshlogin --tmpdir", 0),
        ("flock", "-w -E --wait --timeout --conflict-exit-code", 1),
    ]
}  # fmt: skip
# Options without a value, of the commands in PREFIXES and of `uv run`. After any other option, it
# is unclear where the inner command begins.
FLAGS: dict[str, frozenset[str]] = {
    name: word_set(flags)
    for name, flags in [
        ("env", "-i - -0 --ignore-environment"),
        ("nohup", ""),
        ("setsid", "-c -f -w"),
        ("time", "-p -v -l"),
        ("timeout", "-v --foreground --preserve-status --verbose"),
        ("gtimeout", "-v --foreground --preserve-status --verbose"),
        ("nice", "-1 -5 -10 -15 -19 -20"),
        ("command", "-p"),
        ("exec", "-c -l"),
        ("xargs", "-0 -r -t -x --null --no-run-if-empty --verbose"),
        ("uv run", "-q --quiet --frozen --locked --no-sync --offline --isolated --all-extras "
         "--all-groups --dev --no-dev --no-project"),
        ("npx", "-y --yes --no -q --quiet"),
    ]
}  # fmt: skip
# Pairs of words that run the command after them, such as `uv run`: their options with a value.
RUNNERS: dict[tuple[str, str], frozenset[str]] = {
    (name, sub): word_set(options)
    for name, sub, options in [
        ("uv", "run", "--with --with-editable --with-requirements --extra --group --only-group -p "
         "--python --env-file --directory --project --package --index --index-url --config-file"),
        ("poetry", "run", "-C --directory -P --project"),
        ("pdm", "run", "-p --project"),
        ("pipenv", "run", ""),
        ("hatch", "run", ""),
        ("rye", "run", ""),
        ("pixi", "run", "-e --environment --manifest-path"),
        ("bundle", "exec", ""),
        ("npm", "exec", "-p --package -w --workspace"),
        ("pnpm", "exec", "-C --dir --filter -F"),
        ("pnpm", "dlx", "--package"),
        ("yarn", "exec", ""),
        ("yarn", "dlx", "-p --package"),
        ("bun", "x", ""),
        ("direnv", "exec", ""),
        ("conda", "run", "-n -p --name --prefix --cwd"),
        ("mise", "exec", ""),
        ("devbox", "run", "-c --config"),
    ]
}  # fmt: skip
SHELLS = word_set("sh bash zsh dash ksh mksh ash fish rbash")
FIND_RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
FD_RUNS = frozenset(("-x", "-X", "--exec", "--exec-batch"))


def inner_commands(words: tuple[str, ...]) -> Iterator[InnerCommand]:
    """The commands and scripts that a command with these words runs."""
    name = base_name(words[0])
    if name in PREFIXES:
        yield from _after_prefix(name, words)
    elif name in SHELLS:
        yield from _shell_script(words)
    elif name in ("su", "script"):
        yield from _option_script(words, ("-c", "--command"))
    elif name == "nix-shell":
        yield from _option_script(words, ("--run", "--command"))
    elif name == "eval":
        yield InnerCommand(script=" ".join(words[1:]))
    elif name == "trap" and len(words) > 2:
        yield InnerCommand(script=words[1])
    elif name == "find":
        yield from _commands_of_find(words)
    elif name in ("fd", "fdfind"):
        yield from _rest_after(words, FD_RUNS)
    elif name == "git":
        yield from _git_command(words)
    elif name in ("docker", "podman", "kubectl", "oc"):
        yield from _container_command(words)
    elif len(words) > 2:
        yield from _after_runner(name, words)


def base_name(word: str) -> str:
    return word[word.rfind("/") + 1 :]


def is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def _after_prefix(name: str, words: tuple[str, ...]) -> Iterator[InnerCommand]:
    valued, operands = PREFIXES[name]
    flags = FLAGS.get(name, frozenset())
    is_sure = True
    at = 1
    while at < len(words):
        word = words[at]
        if word == "--":
            at += 1
            break
        if name == "env" and (word.startswith("-S") or word.startswith("--split-string")):
            text = word.partition("=")[2] if word.startswith("--") else word[2:]
            yield InnerCommand(script=" ".join([text, *words[at + 1 :]]))
            return
        if name == "command" and word in ("-v", "-V"):
            return
        if (
            name in ("flock", "npx")
            and word in ("-c", "--command", "--call")
            and at + 1 < len(words)
        ):
            yield InnerCommand(script=words[at + 1])
            return
        if (word.startswith("-") and word != "-") or (name == "env" and word == "-"):
            is_sure &= word in flags or word[:2] in valued or word.partition("=")[0] in valued
            at += 2 if word in valued else 1
        elif name in ("sudo", "env", "doas") and is_assignment(word):
            at += 1
        elif operands:
            operands -= 1
            at += 1
        else:
            break
    if at >= len(words):
        return
    if name in ("watch", "parallel") or (name == "flock" and words[at] == "-c"):
        # These join their words and pass them to a shell.
        yield InnerCommand(script=" ".join(words[at:]))
    else:
        yield InnerCommand(at, len(words), is_sure=is_sure)


def _shell_script(words: tuple[str, ...]) -> Iterator[InnerCommand]:
    wants_script = False
    at = 1
    while at < len(words) and words[at][:1] in ("-", "+") and len(words[at]) > 1:
        word = words[at]
        at += 1
        if word == "--":
            break
        if word.startswith("--"):
            at += word in ("--rcfile", "--init-file")
            wants_script |= word == "--command"
        else:
            wants_script |= "c" in word
            at += word[-1] in "oO"
    if wants_script and at < len(words):
        yield InnerCommand(script=words[at])


def _option_script(words: tuple[str, ...], options: tuple[str, ...]) -> Iterator[InnerCommand]:
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in options and equals:
            yield InnerCommand(script=value)
        elif name in options and at + 1 < len(words):
            yield InnerCommand(script=words[at + 1])
        elif not name.startswith("--") and name.startswith("-c") and "-c" in options:
            yield InnerCommand(script=word[2:])


def _commands_of_find(words: tuple[str, ...]) -> Iterator[InnerCommand]:
    at = 1
    while at < len(words):
        if words[at] in FIND_RUNS:
            stop = at + 1
            while stop < len(words) and words[stop] != ";":
                if words[stop] == "+" and words[stop - 1] == "{}":
                    break
                stop += 1
            if stop > at + 1:
                yield InnerCommand(at + 1, stop)
            at = stop
        at += 1


def _rest_after(words: tuple[str, ...], options: frozenset[str]) -> Iterator[InnerCommand]:
    for at, word in enumerate(words):
        if word in options and at + 1 < len(words):
            yield InnerCommand(at + 1, len(words))
            return


def _git_command(words: tuple[str, ...]) -> Iterator[InnerCommand]:
    if "bisect" in words and "run" in words:
        yield from _rest_after(words, frozenset(("run",)))
    elif "foreach" in words and "submodule" in words:
        start = words.index("foreach") + 1
        while start < len(words) and words[start].startswith("-"):
            start += 1
        if start < len(words):
            yield InnerCommand(script=" ".join(words[start:]))
    elif "rebase" in words:
        yield from _option_script(words, ("-x", "--exec"))


def _container_command(words: tuple[str, ...]) -> Iterator[InnerCommand]:
    if "exec" not in words[1:]:
        return
    if "--" in words:
        yield from _rest_after(words, frozenset(("--",)))
        return
    at = words.index("exec") + 1
    valued = ("-e", "--env", "-u", "--user", "-w", "--workdir", "--env-file", "--index")
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in valued else 1
    if at + 1 < len(words):
        yield InnerCommand(at + 1, len(words))


def _after_runner(name: str, words: tuple[str, ...]) -> Iterator[InnerCommand]:
    valued = RUNNERS.get((name, words[1]))
    if valued is None:
        return
    flags = FLAGS.get(f"{name} {words[1]}", frozenset())
    is_sure = True
    at = 2
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "--":
            at += 1
            break
        if words[at] in ("-m", "--module", "--script", "-s"):
            return
        is_sure &= words[at] in flags or words[at].partition("=")[0] in valued
        at += 2 if words[at] in valued else 1
    if at < len(words):
        yield InnerCommand(at, len(words), is_sure=is_sure)
