"""What a shell line runs: a summary of its first command, and every command anywhere in it.

The index reads hundreds of thousands of lines. Most are simple and are split by the patterns in
this file; only the rest go through the bash grammar (shell_tree.py). Lines that the grammar can't
read are cut wherever a command could start, and marked as not understood.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

from navi.permissions.shell.shell_command import (
    PREFIXES,
    SHELLS,
    InnerCommand,
    Redirection,
    ShellCommand,
    base_name,
    inner_commands,
    is_assignment,
    word_set,
)

__all__ = ["ShellCommand", "ShellLine", "read_command", "subcommand"]

# Longer lines rarely repeat, so caching them is not worth the memory.
LONGEST_CACHED = 1_000
CACHED_LINES = 16_384
# No honest command nests `bash -c "bash -c …"` deeper than this.
MAX_SCRIPT_DEPTH = 6
MAX_WRAPPERS = 20

# For each tool, the options before the subcommand that take a value.
SUBCOMMAND_TOOLS: dict[str, frozenset[str]] = {
    name: word_set(options)
    for name, options in [
        ("git", "-C -c --git-dir --work-tree --namespace --config-env --attr-source"),
        ("kubectl", "-n --namespace --context --cluster --user --kubeconfig -s --server --token "
         "--as --as-group --request-timeout --cache-dir --certificate-authority"),
        ("docker", "-c --context -H --host -l --log-level --config"),
        ("npm", "--prefix -w --workspace -C --loglevel --registry --userconfig --cache"),
        ("yarn", "--cwd"),
        ("pnpm", "-C --dir --filter -F"),
        ("cargo", "--color --config -Z -C"),
        ("go", "-C"),
        ("uv", "--directory --project --config-file --cache-dir --color -p --python"),
        ("pip", "--python --log --proxy --timeout --cache-dir"),
        ("brew", ""),
        ("apt", "-o -c -t"),
        ("systemctl", "-H -M -t -p -n -o --host --machine --type --property --root --state"),
    ]
}  # fmt: skip

_WORD = r"""(?:[\w@%+:,./=^~*?-]++|'[^']*+'|"[^"$`\\]*+")++(?=[ \t\n;&|]|$)"""
_REDIRECTION = r"(?:[0-9]?>&[0-9]|[0-9&]?>>?[ \t]*+[\w./-]++|<[ \t]*+[\w./-]++)(?=[ \t\n;&|]|$)"
_PLAIN = re.compile(rf"[ \t]*+{_WORD}(?:[ \t]++{_WORD})*+[ \t\n]*+")
_HEAD = re.compile(rf"[ \t\n]*+({_WORD}(?:[ \t]++(?:{_REDIRECTION}|{_WORD}))*+)[ \t]*+")
_JOINED = re.compile(r"(?:&&|\|\|?|;|&(?![&>])|\n)[ \t\n]*+[^\s#;&|)}]")
_PART = rf"{_WORD}(?:[ \t]++(?:{_REDIRECTION}|{_WORD}))*+[ \t]*+"
_JOINED_PARTS = re.compile(rf"[ \t\n]*+{_PART}(?:(?:&&|\|\|?|;|\n)[ \t\n]*+{_PART})++[ \t\n]*+")
_TOKENS = re.compile(rf"(&&|\|\|?|;|\n)|({_REDIRECTION})|{_WORD}")
_WORDS = re.compile(_WORD)
_HEAD_WORDS = re.compile(rf"({_REDIRECTION})|{_WORD}")
_QUOTES = re.compile(r"'([^']*)'|\"([^\"]*)\"")
# Characters that bash reads differently from people and grammars.
_ODD = re.compile(r"[^\S \t\n]|[\x00-\x08\x0e-\x1f\x7f\u200b-\u200f\u2028-\u202e\u2060\ufeff]")
_KEYWORDS = word_set(
    "if then else elif fi for while until do done case esac select function time coproc in"
)
# The grammar has special nodes for these commands.
_DECLARATIONS = word_set("export declare local readonly typeset unset unsetenv")
_GLOBS = re.compile(r"[*?~]")
_SPLIT_REDIRECTION = re.compile(r"([0-9&]?(?:>&|>>?|<))[ \t]*(.+)")
_NO_INDEXES: frozenset[int] = frozenset()


class ShellLine:
    """A line as the shell would run it. `commands` is computed on first use."""

    def __init__(
        self,
        text: str,
        summary: tuple[str | None, str | None, bool],
        parts: list[ShellCommand] | None = None,
        is_understood: bool | None = None,
        depth: int = 0,
    ) -> None:
        self.text = text
        self.base: str | None
        """The first command's name, looking through `sudo`, `env A=b`, `bash -lc` and the like."""
        self.sub: str | None
        """Its subcommand, for tools that have them."""
        self.is_compound: bool
        self.base, self.sub, self.is_compound = summary
        self._parts = parts
        self._is_understood = is_understood
        self._depth = depth

    @cached_property
    def commands(self) -> tuple[ShellCommand, ...]:
        """Every simple command that may run, each wrapper followed by the commands it runs."""
        if self._parts is None:
            self._parts, _, self._is_understood = _read_whole(self.text)
        commands: list[ShellCommand] = []
        for command in self._parts:
            _append_with_inner(command, commands, self._depth, 0)
        return tuple(commands)

    @property
    def is_understood(self) -> bool:
        """False if the line may run more than `commands`."""
        if self._is_understood is None:
            self._parts, _, self._is_understood = _read_whole(self.text)
        return self._is_understood

    def __repr__(self) -> str:
        return f"ShellLine({self.text!r}, {self.base!r}, {self.sub!r}, {self.is_compound})"


def read_command(text: str) -> ShellLine:
    """Parse a shell line; never fails."""
    return _read_cached(text) if len(text) <= LONGEST_CACHED else _read(text, 0)


@lru_cache(maxsize=CACHED_LINES)
def _read_cached(text: str) -> ShellLine:
    return _read(text, 0)


def _read(text: str, depth: int) -> ShellLine:
    words = _plain_words(text)
    is_compound = False
    if words is None:
        words = _head_words(text)
        is_compound = True
    if words is not None:
        # The summary needs only the first command and whether more follow.
        return ShellLine(text, _summary(words, _NO_INDEXES, is_compound, depth), depth=depth)
    commands, is_compound, is_understood = _read_whole(text)
    first = next((command for command in commands if command.words), ShellCommand(()))
    summary = _summary(first.words, first.dynamic, is_compound, depth)
    return ShellLine(text, summary, commands, is_understood, depth)


def _plain_words(text: str) -> tuple[str, ...] | None:
    """The words of a line of plain words; None for any other line."""
    if _PLAIN.fullmatch(text) is None:
        return None
    words = tuple(_WORDS.findall(text))
    first = words[0]
    if first in _KEYWORDS or first in _DECLARATIONS or "=" in first or _GLOBS.search(first):
        return None
    return tuple(map(_unquoted, words)) if "'" in text or '"' in text else words


def _plain_parts(text: str) -> list[ShellCommand] | None:
    """The commands of a line of plain commands joined by `&&`, `|`, `;` …; None for any other."""
    if _JOINED_PARTS.fullmatch(text) is None:
        return None
    commands: list[ShellCommand] = []
    words: list[str] = []
    redirections: list[Redirection] = []
    start = stop = 0
    is_piped = False
    tokens = [*_TOKENS.finditer(text), None]
    for token in tokens:
        if token is None or token[1] is not None:
            if words:
                if words[0] in _KEYWORDS or words[0] in _DECLARATIONS:
                    return None
                if "=" in words[0] or _GLOBS.search(words[0]):
                    return None
                is_before_pipe = token is not None and token[1] == "|"
                commands.append(
                    ShellCommand(
                        tuple(map(_unquoted, words)),
                        text=text[start:stop],
                        redirections=tuple(redirections),
                        is_piped=is_piped or is_before_pipe,
                    )
                )
                is_piped = is_before_pipe
            words, redirections = [], []
        elif token[2] is not None:
            operator, target = _SPLIT_REDIRECTION.fullmatch(token[2]).groups()  # type: ignore[union-attr]
            redirections.append(Redirection(operator, target))
        else:
            if redirections:
                # A redirection between the words can't be cut out of the text.
                return None
            start = start if words else token.start()
            stop = token.end()
            words.append(token[0])
    return commands


def _head_words(text: str) -> tuple[str, ...] | None:
    """Words before the first `|`, `&&`, `;` or line end; None if not plain or nothing follows."""
    head = _HEAD.match(text)
    if head is None or _JOINED.match(text, head.end()) is None:
        return None
    words = tuple(
        _unquoted(match[0]) for match in _HEAD_WORDS.finditer(head[1]) if match[1] is None
    )
    first = words[0]
    if first in _KEYWORDS or "=" in first or _GLOBS.search(first):
        return None
    return words


def _unquoted(word: str) -> str:
    if "'" not in word and '"' not in word:
        return word
    return _QUOTES.sub(lambda match: match[1] if match[1] is not None else match[2], word)


def _runs_others(word: str) -> bool:
    name = base_name(word)
    return name in PREFIXES or name in SHELLS or name in _RUN_OTHERS


_RUN_OTHERS = word_set(
    "su script nix-shell eval trap find fd fdfind git docker podman kubectl oc uv poetry pdm "
    "pipenv hatch rye pixi bundle npm pnpm yarn bun direnv conda mise devbox"
)
# Wrappers that the summary leaves out: `sudo x` is summarised as `x`.
_SUMMARY_WRAPPERS = (
    SHELLS
    | word_set("eval su")
    | (frozenset(PREFIXES) - word_set("xargs parallel watch npx bunx uvx strace ltrace"))
)


def _summary(
    words: tuple[str, ...], dynamic: frozenset[int], is_compound: bool, depth: int
) -> tuple[str | None, str | None, bool]:
    """The summary of a line whose first command has these words."""
    if not words:
        return None, None, is_compound
    while base_name(words[0]) in _SUMMARY_WRAPPERS and 0 not in dynamic:
        inner = next(inner_commands(words), None)
        if inner is None:
            break
        if inner.script is not None:
            line = _read(inner.script, depth + 1) if depth < MAX_SCRIPT_DEPTH else None
            if line is None or line.base is None:
                break
            return line.base, line.sub, is_compound or line.is_compound
        words = words[inner.start : inner.stop]
        dynamic = frozenset(index - inner.start for index in dynamic)
    return base_name(words[0]) or words[0], subcommand(words, dynamic), is_compound


def subcommand(words: tuple[str, ...], dynamic: frozenset[int] = frozenset()) -> str | None:
    """The subcommand of a tool that has them; None if the words contain none."""
    valued = SUBCOMMAND_TOOLS.get(base_name(words[0]))
    if valued is None:
        return None
    index = 1
    while index < len(words) and words[index][:1] in ("-", "+"):
        index += 2 if words[index] in valued else 1
    if index >= len(words) or index in dynamic:
        return None
    return words[index] or None


def _append_with_inner(
    command: ShellCommand, commands: list[ShellCommand], depth: int, wrappers: int
) -> None:
    """Add the command, followed by everything that it runs."""
    index = len(commands)
    commands.append(command)
    if not command.words or 0 in command.dynamic or not _runs_others(command.words[0]):
        return
    for inner in inner_commands(command.words):
        if wrappers > MAX_WRAPPERS:
            commands.append(command._replace(words=(), text="", parent=index, is_unknown=True))
        elif inner.script is not None:
            _append_script(command, inner, commands, depth, index)
        else:
            part = command._replace(
                words=command.words[inner.start : inner.stop],
                dynamic=frozenset(
                    at - inner.start for at in command.dynamic if inner.start <= at < inner.stop
                ),
                text="",
                redirections=(),
                parent=index,
                is_unknown=command.is_unknown or not inner.is_sure,
            )
            _append_with_inner(part, commands, depth, wrappers + 1)


def _append_script(
    command: ShellCommand, inner: InnerCommand, commands: list[ShellCommand], depth: int, index: int
) -> None:
    """Add the commands of a script that is one of `command`'s words, as unknown if in doubt."""
    is_unknown = command.is_unknown or bool(command.dynamic) or depth >= MAX_SCRIPT_DEPTH
    if depth < MAX_SCRIPT_DEPTH and inner.script is not None:
        line = _read(inner.script, depth + 1)
        is_unknown = is_unknown or not line.is_understood
        start = len(commands)
        for part in line.commands:
            parent = index if part.parent < 0 else part.parent + start
            unknown = part.is_unknown or is_unknown
            piped = part.is_piped or command.is_piped
            commands.append(part._replace(parent=parent, is_unknown=unknown, is_piped=piped))
    if is_unknown:
        commands.append(ShellCommand((), parent=index, is_unknown=True))


def _read_whole(text: str) -> tuple[list[ShellCommand], bool, bool]:
    """The commands of any text, whether it is compound, and whether it is understood."""
    plain = _plain_words(text)
    if plain is not None:
        return [ShellCommand(plain, text=text.strip())], False, True
    parts = _plain_parts(text)
    if parts is not None:
        return parts, True, True
    from navi.permissions.shell.shell_tree import read_tree

    reading = read_tree(text)
    if reading is None:
        commands = _cut_commands(text)
        return commands, len(commands) > 1, False
    is_understood = reading.is_understood and _ODD.search(text) is None
    return reading.commands, reading.is_compound, is_understood


# Everything after which bash may start a command, even inside quotes: cutting too often is safer.
_CUTS = re.compile(r"[;&|\n(){}`]+")
# Ignore the rest of an unreadable line; it is not understood anyway.
_MAX_CUTS = 1_000
_MAX_CUT_CHARACTERS = 100_000


def _cut_commands(text: str) -> list[ShellCommand]:
    """Guess the commands of a line that the grammar can't read."""
    commands: list[ShellCommand] = []
    for piece in _CUTS.split(text[:_MAX_CUT_CHARACTERS], maxsplit=_MAX_CUTS)[:_MAX_CUTS]:
        words = [word.strip("\"'") for word in piece.replace("$", " ").split()]
        while words and (words[0] in _KEYWORDS or words[0] in ("", "!") or is_assignment(words[0])):
            words.pop(0)
        words = [word for word in words if word and word[0] not in "<>"]
        if words:
            commands.append(ShellCommand(tuple(words), is_unknown=True))
    return commands
