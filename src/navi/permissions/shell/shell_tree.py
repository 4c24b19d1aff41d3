"""Finds a shell line's simple commands in its syntax tree."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from navi.permissions.shell.shell_command import Redirection, ShellCommand, word_set

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

# Longer lines are data rather than commands, and not worth parsing.
LONGEST_TREE = 100_000
# Real lines have fewer here-documents and expansions. Parsing many takes more than linear time.
MOST_OPENINGS = 500
# A character that has no special meaning to bash.
STAND_IN = "%"

# Nodes that make a line more than one plain command.
COMPOUNDS = word_set(
    "list pipeline subshell compound_statement for_statement c_style_for_statement while_statement "
    "if_statement case_statement function_definition command_substitution "
    "process_substitution"
)
WORDS = word_set(
    "word number string raw_string ansi_c_string concatenation simple_expansion expansion "
    "command_substitution process_substitution arithmetic_expansion brace_expression regex "
    "translated_string extglob_pattern"
)
REDIRECTS = frozenset(("file_redirect", "heredoc_redirect", "herestring_redirect"))
# What a here-document's node may contain, including the commands that follow on its first line.
HEREDOC_PARTS = word_set(
    "<< <<- heredoc_start heredoc_body heredoc_end file_descriptor file_redirect pipeline && || | "
    "|& command redirected_statement list herestring_redirect ;"
)


class TreeReading(NamedTuple):
    commands: list[ShellCommand]
    is_compound: bool
    is_understood: bool
    """False if bash may run more than the grammar found."""


def read_tree(text: str) -> TreeReading | None:
    """The commands in order; None if the text is too long or the grammar can't parse it."""
    if len(text) > LONGEST_TREE or text.count("<<") + text.count("${") > MOST_OPENINGS:
        return None
    # The grammar's scanner may crash on letters outside Latin-1. A stand-in for each keeps all
    # positions in the text the same.
    shadow = text if text.isascii() else _BEYOND_ASCII.sub(STAND_IN, text)
    root = _parser().parse(shadow.encode("ascii")).root_node
    return None if root.has_error else _Walk(text).read(root)


@cache
def _parser() -> Parser:
    # Imported on use: most recall commands never need a tree.
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


class _Walk:
    """Walks a tree once, with an explicit stack because long lists are deep trees."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.commands: list[ShellCommand] = []
        self.is_compound = False
        self.is_understood = True

    def read(self, root: Node) -> TreeReading:
        statements = [node for node in root.children if node.is_named and node.type != "comment"]
        self.is_compound = len(statements) > 1 or any(node.type == "&" for node in root.children)
        stack: list[tuple[Node, bool, tuple[Redirection, ...]]] = [(root, False, ())]
        while stack:
            node, is_piped, redirections = stack.pop()
            children = node.children
            kind = node.type
            if children:
                self._check_gaps(node, children)
            if kind in COMPOUNDS:
                self.is_compound = True
                is_piped = is_piped or kind == "pipeline"
            if kind == "command":
                redirections += self._redirections(children)
                self._add_command(node, children, is_piped, redirections)
                redirections = ()
            elif kind in ("declaration_command", "unset_command"):
                self._add_declaration(node, children, is_piped, redirections)
                redirections = ()
            elif kind == "test_command":
                name = self._text(children[0]) if children else "["
                self._add(ShellCommand((name,), frozenset(), self._text(node), (), redirections))
                redirections = ()
            elif kind == "variable_assignment" and node.parent is not None:
                if node.parent.type not in ("command", "declaration_command"):
                    self._add(ShellCommand((), assignments=(self._assignment(node),)))
            elif kind == "redirected_statement":
                redirections += self._redirections(children)
                if not any(child.is_named and child.type not in REDIRECTS for child in children):
                    self._add(ShellCommand((), redirections=redirections))
                    redirections = ()
            elif kind == "heredoc_redirect":
                self._check_heredoc(children)
                is_piped = is_piped or any(child.type in ("|", "pipeline") for child in children)
                redirections = ()
            elif kind not in ("program", "negated_command", "list", "pipeline") and redirections:
                # A redirection of a whole loop or group belongs to none of its commands.
                self._add(ShellCommand((), redirections=redirections))
                redirections = ()
            for child in reversed(children):
                if child.type in REDIRECTS:
                    stack.append((child, is_piped, ()))
                elif child.child_count:
                    stack.append((child, is_piped, redirections))
                    if kind in ("list", "pipeline"):
                        # In `a && b > f` the grammar redirects both, bash only the last.
                        redirections = ()
        return TreeReading(self.commands, self.is_compound, self.is_understood)

    def _check_gaps(self, node: Node, children: list[Node]) -> None:
        """Detect text that the grammar drops, joins or splits where bash does not.

        Between the parts of a node there must be nothing but white space. Between the words of a
        command there must be white space; within a word there must be none.
        """
        kind = node.type
        is_root = kind == "program"
        at = 0 if is_root else node.start_byte
        for index, child in enumerate(children):
            gap = self.source[at : child.start_byte].replace("\\\n", "")
            is_cut = (
                kind == "command"
                and index > 0
                and (not gap or "\n" in gap)
                and child.type not in REDIRECTS
            )
            if is_cut or gap.strip(" \t\n") or (gap and kind == "concatenation"):
                self.is_understood = False
            at = child.end_byte
        rest = self.source[at : len(self.source) if is_root else node.end_byte]
        if rest.replace("\\\n", "").strip(" \t\n"):
            self.is_understood = False

    def _add(self, command: ShellCommand) -> None:
        self.commands.append(command)

    def _add_command(
        self,
        node: Node,
        children: list[Node],
        is_piped: bool,
        redirections: tuple[Redirection, ...],
    ) -> None:
        words: list[str] = []
        dynamic: list[int] = []
        assignments = []
        has_redirect = False
        for child in children:
            kind = child.type
            if kind == "variable_assignment":
                assignments.append(self._assignment(child))
            elif kind in REDIRECTS:
                has_redirect = True
            elif kind == "command_name" or kind in WORDS:
                if kind == "command_name":
                    child = child.children[0] if child.child_count == 1 else child
                value, is_dynamic = self._word(child)
                if is_dynamic or (not words and _is_pattern(child, value)):
                    dynamic.append(len(words))
                words.append(value)
            else:
                # `$"…"`, `=~` and anything else the grammar allows among the words.
                dynamic.append(len(words))
                words.append(self._text(child))
        self._add(
            ShellCommand(
                tuple(words),
                frozenset(dynamic),
                "" if has_redirect else self._text(node),
                tuple(assignments),
                redirections,
                is_piped,
            )
        )

    def _add_declaration(
        self,
        node: Node,
        children: list[Node],
        is_piped: bool,
        redirections: tuple[Redirection, ...],
    ) -> None:
        assignments = tuple(
            self._assignment(child) for child in children if child.type == "variable_assignment"
        )
        words = tuple(self._text(child) for child in children)
        dynamic = frozenset(
            at for at, child in enumerate(children) if at and not _is_plain(self._text(child))
        )
        self._add(
            ShellCommand(words, dynamic, self._text(node), assignments, redirections, is_piped)
        )

    def _assignment(self, node: Node) -> tuple[str, str | None]:
        name, _, _ = self._text(node).partition("=")
        value = node.children[-1] if node.children else None
        if value is None or value.type in ("=", "+="):
            return name, ""
        text, is_dynamic = self._word(value)
        return name, None if is_dynamic else text

    def _redirections(self, children: list[Node]) -> tuple[Redirection, ...]:
        return tuple(
            self._redirection(child) for child in children if child.type in REDIRECTS
        ) + tuple(
            # `cat <<EOF > file`: the second redirection is a child of the first.
            self._redirection(inner)
            for child in children
            if child.type == "heredoc_redirect"
            for inner in child.children
            if inner.type in REDIRECTS
        )

    def _redirection(self, node: Node) -> Redirection:
        operator = ""
        target: str | None = None
        for child in node.children:
            if not child.is_named or child.type == "file_descriptor":
                operator += self._text(child)
            elif node.type == "heredoc_redirect":
                break
            elif operator and target is None:
                value, is_dynamic = self._word(child)
                target = None if is_dynamic else value
                if is_dynamic:
                    break
            else:
                # More than one target: in `> a b`, `b` is an argument, not a target.
                self.is_understood = False
        return Redirection(operator, target)

    def _check_heredoc(self, children: list[Node]) -> None:
        is_quoted = True
        for child in children:
            if child.type not in HEREDOC_PARTS:
                self.is_understood = False
            elif child.type == "heredoc_start":
                delimiter = self._text(child)
                is_quoted = delimiter[:1] in ("'", '"', "\\")
                # With stand-ins, two different delimiters may look the same to the grammar.
                self.is_understood &= delimiter.isascii()
            elif child.type == "heredoc_body" and not is_quoted and "`" in self._text(child):
                # The grammar treats backquotes in here-documents as text; bash runs them.
                self.is_understood = False

    def _word(self, node: Node) -> tuple[str, bool]:
        """The word that the command receives, and whether it is decided only at run time."""
        kind = node.type
        text = self._text(node)
        if kind in ("word", "number"):
            if _BLANK.search(_ESCAPED.sub("", text)):
                # bash would end the word here.
                self.is_understood = False
            value = _ESCAPED.sub(_unescaped, text) if "\\" in text else text
            return value, _has_brace_expansion(text)
        if kind == "raw_string":
            return text[1:-1], False
        if kind == "string":
            inner = text[1:-1]
            if any(child.type not in ('"', "string_content") for child in node.children):
                return inner, True
            bare = _ESCAPED.sub("", inner)
            return _QUOTED_ESCAPED.sub(_unescaped, inner), "$" in bare or "`" in bare
        if kind == "ansi_c_string":
            return text[2:-1], "\\" in text
        if kind == "concatenation":
            parts = [self._word(child) for child in node.children]
            value = "".join(part for part, _ in parts)
            if text == "{}":
                return text, False
            is_brace = "{" in text and any(child.type == "word" and "{" in self._text(child)
                                           for child in node.children)  # fmt: skip
            return value, is_brace or any(dynamic for _, dynamic in parts)
        return text, True

    def _text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte]


_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_BLANK = re.compile(r"[ \t\n]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_QUOTED_ESCAPED = re.compile(r'\\([$`"\\\n])')
_PLAIN = re.compile(r"[\w@%+=:,./-]*")


def _unescaped(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]


def _has_brace_expansion(text: str) -> bool:
    """Whether bash makes several words of this unquoted one: `{rm,-rf,x}` is three."""
    return "{" in text and text != "{}" and ("," in text or ".." in text)


def _is_pattern(node: Node, value: str) -> bool:
    """Whether bash would expand it to file names: `/bin/r?` may be rm."""
    return node.type in ("word", "concatenation") and any(
        character in value for character in "*?[~{"
    )


def _is_plain(text: str) -> bool:
    return _PLAIN.fullmatch(text) is not None
