"""What a shell line runs."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from navi.permissions.shell import shell_line
from navi.permissions.shell.shell_line import ShellLine, read_command
from navi.permissions.shell.shell_tree import read_tree


def summary(text: str) -> tuple[str | None, str | None, bool]:
    line = read_command(text)
    return line.base, line.sub, line.is_compound


def names(text: str) -> list[str]:
    return [command.words[0] for command in read_command(text).commands if command.words]


def test_the_three_examples_of_the_specification() -> None:
    assert summary("git commit -m 'msg' && git push") == ("git", "commit", True)
    assert summary("kubectl get pods -n default") == ("kubectl", "get", False)
    assert summary("cat file.txt | grep error") == ("cat", None, True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git status", ("git", "status", False)),
        ("  git   status  ", ("git", "status", False)),
        ("git -C 'a b' status", ("git", "status", False)),
        ("git -c core.pager=cat --no-pager log", ("git", "log", False)),
        ("git --git-dir=/x/.git log", ("git", "log", False)),
        ('"git" st"at"us', ("git", "status", False)),
        ("/usr/bin/git status", ("git", "status", False)),
        (".venv/bin/pytest -q", ("pytest", None, False)),
        ("A=b C='d e' npm run test", ("npm", "run", False)),
        ("env A=b npm test", ("npm", "test", False)),
        ("sudo -u root apt install x", ("apt", "install", False)),
        ("sudo", ("sudo", None, False)),
        ("nohup timeout -k 5 10 cargo build", ("cargo", "build", False)),
        ("time go test ./...", ("go", "test", False)),
        ("command -v git", ("command", None, False)),
        ('bash -lc "git status"', ("git", "status", False)),
        ('bash -lc "git status | head"', ("git", "status", True)),
        ("bash -c ' git | git '", ("git", None, True)),
        ("bash -o pipefail -c 'npm ci'", ("npm", "ci", False)),
        ("bash script.sh -c x", ("bash", None, False)),
        ("sh -c 'bash -c \"uv sync\"'", ("uv", "sync", False)),
        ("npm test 2>&1", ("npm", "test", False)),
        ("npm test 2>&1 | tail -5", ("npm", "test", True)),
        ("echo 'a && b | c; d'", ("echo", None, False)),
        ('echo "a && b"', ("echo", None, False)),
        ("cargo +nightly clippy", ("cargo", "clippy", False)),
        ("kubectl -n default get pods", ("kubectl", "get", False)),
        ("docker compose up -d", ("docker", "compose", False)),
        ("systemctl --user status x", ("systemctl", "status", False)),
        ("git $verb", ("git", None, False)),
        ("git", ("git", None, False)),
        ("git --version", ("git", None, False)),
        ("(cd x; ls)", ("cd", None, True)),
        ("ls;", ("ls", None, False)),
        ("ls # a comment", ("ls", None, False)),
        ("# only a comment", (None, None, False)),
        ("ls\n# a comment", ("ls", None, False)),
        ("ls\npwd", ("ls", None, True)),
        ("ls \\\n  -la", ("ls", None, False)),
        ("sleep 5 &", ("sleep", None, True)),
        ("ls &>/dev/null", ("ls", None, False)),
        ("! grep -q x y", ("grep", None, False)),
        ("for f in a b; do rm $f; done", ("rm", None, True)),
        ("if ls; then pwd; fi", ("ls", None, True)),
        ("echo $(date)", ("echo", None, True)),
        ("echo `date`", ("echo", None, True)),
        ("X=1; git pull", ("git", "pull", True)),
        ("X=1", (None, None, False)),
        ("cat <<EOF > file\nls | rm\nEOF", ("cat", None, False)),
        ("", (None, None, False)),
        ("   \n ", (None, None, False)),
    ],
)
def test_a_line_is_summarised_by_its_program_and_subcommand(
    text: str, expected: tuple[str | None, str | None, bool]
) -> None:
    assert summary(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a | b || c && d; e & f\ng", ["a", "b", "c", "d", "e", "f", "g"]),
        ("(a; { b; }) > x", ["a", "b"]),
        ("echo $(a $(b) `c`)", ["echo", "a", "b", "c"]),
        ('echo "x $(a) ${y:-$(b)} $((1 + $(c)))"', ["echo", "a", "b", "c"]),
        ("diff <(a) >(b)", ["diff", "a", "b"]),
        ("x=$(a) y=$(b) c", ["c", "a", "b"]),
        ("for f in $(a); do b; done < <(c)", ["a", "b", "c"]),
        ("while a; do b; done; until c; do d; done", ["a", "b", "c", "d"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("case $(a) in x) b;; *) c;; esac", ["a", "b", "c"]),
        ("f() { a; }; f", ["a", "f"]),
        ("[ -f x ] && [[ -n $(a) ]] && b", ["[", "[[", "a", "b"]),
        ("export X=$(a)", ["export", "a"]),
        ("cat <<EOF | a\n$(b)\nEOF", ["cat", "a", "b"]),
        ("a <<< $(b)", ["a", "b"]),
        ("sudo -E env A=b nice -n 5 a", ["sudo", "env", "nice", "a"]),
        ("find . -name x -exec a {} + -o -execdir b c \\;", ["find", "a", "b"]),
        ("xargs -0 -n1 -I{} a {}", ["xargs", "a"]),
        ("timeout -s KILL 5 a", ["timeout", "a"]),
        ("bash -lc 'a && sh -c \"b | c\"'", ["bash", "a", "sh", "b", "c"]),
        ("env -S 'a b' c", ["env", "a"]),
        ("eval 'a; b'", ["eval", "a", "b"]),
        ("trap 'a' EXIT", ["trap", "a"]),
        ("watch -n 1 'a | b'", ["watch", "a", "b"]),
        ("uv run --frozen a -q", ["uv", "a"]),
        ("docker exec -it -u me box a b", ["docker", "a"]),
        ("kubectl exec pod -c x -- a b", ["kubectl", "a"]),
        ("git submodule foreach 'a; b'", ["git", "a", "b"]),
        ("git rebase main -x 'a'", ["git", "a"]),
        ("git bisect run a b", ["git", "a"]),
        ("su root -c 'a b'", ["su", "a"]),
        ("flock /tmp/x -c 'a'", ["flock", "a"]),
        ("command -v a", ["command"]),
    ],
)
def test_every_command_is_found_wherever_it_stands(text: str, expected: list[str]) -> None:
    assert sorted(names(text)) == sorted(expected)


def test_words_are_what_the_command_receives() -> None:
    (command,) = read_command("""grep -e 'a b' "c d" e\\ f g"h"'i' "\\$x" {} '*'""").commands
    assert command.words == ("grep", "-e", "a b", "c d", "e f", "ghi", "$x", "{}", "*")
    assert command.dynamic == frozenset()


def test_what_is_known_only_when_it_runs_is_said_so() -> None:
    (command,) = read_command('echo $a plain "${b}" {c,d} $\'\\x41\' $"e"').commands
    assert command.dynamic >= {1, 3, 4, 5, 6}
    assert 2 not in command.dynamic
    assert read_command("$x y").commands[0].name is None
    assert read_command("/bin/r? x").commands[0].name is None
    assert read_command("{rm,-rf,x}").commands[0].is_unknown


def test_redirections_assignments_and_pipes_stay_with_their_command() -> None:
    first, second = read_command("A=b C=$d x 2>&1 >>out | y <in").commands
    assert first.assignments == (("A", "b"), ("C", None))
    assert [tuple(redirection) for redirection in first.redirections] == [
        ("2>&", "1"),
        (">>", "out"),
    ]
    assert [tuple(redirection) for redirection in second.redirections] == [("<", "in")]
    assert first.is_piped
    assert second.is_piped
    assert not read_command("x && y").commands[0].is_piped
    assert first.text == "A=b C=$d x"


def test_a_redirection_of_a_whole_group_is_not_lost() -> None:
    for text in ("{ ls; pwd; } > f", "for x in a; do ls; done > f", "(ls) > f", "> f"):
        targets = [
            redirection.target
            for command in read_command(text).commands
            for redirection in command.redirections
        ]
        assert targets == ["f"], text


def test_a_wrapper_is_named_as_the_parent_of_what_it_runs() -> None:
    commands = read_command("ls && sudo env A=b rm x").commands
    assert [(command.words[0], command.parent) for command in commands] == [
        ("ls", -1),
        ("sudo", -1),
        ("env", 1),
        ("rm", 2),
    ]


def test_after_an_unknown_option_of_a_wrapper_nothing_is_sure() -> None:
    inner = read_command("env -vu ls rm x").commands[1]
    assert inner.is_unknown
    assert not read_command("env -u ls rm x").commands[1].is_unknown


@pytest.mark.parametrize(
    "text",
    [
        "if [ -f a",
        "echo 'unclosed && rm x",
        "cat <<EOF\n`rm x`\nEOF",
        "ls 2>&1 -la",
        "ls\r\nrm x",
        "ls\u00a0x",
        "ls \r",
        "ls \u2028 x",
    ],
)
def test_a_line_that_may_run_more_than_was_seen_is_not_understood(text: str) -> None:
    assert not read_command(text).is_understood


def test_what_the_grammar_cannot_read_is_still_taken_apart() -> None:
    line = read_command("for x in $(ls; do sudo rm -rf / && echo 'x")
    assert not line.is_understood
    assert {"sudo", "rm", "echo"} <= set(names(line.text))
    assert all(command.is_unknown for command in line.commands)


def test_a_script_that_is_known_only_when_it_runs_is_unknown() -> None:
    assert any(command.is_unknown for command in read_command('bash -c "$x"').commands)
    assert any(command.is_unknown for command in read_command("eval $(x)").commands)


def test_very_long_and_very_deep_lines_are_read() -> None:
    assert len(read_command(" && ".join(["ls"] * 5_000)).commands) == 5_000
    assert read_command("echo " + "$(" * 3_000 + ")" * 3_000).base == "echo"
    assert read_command("sudo " * 3_000 + "rm").base is not None
    read_command("sudo " * 3_000 + "rm").commands  # noqa: B018
    assert read_command("x" * 1_000_000).base == "x" * 1_000_000
    nested = "ls"
    for _ in range(12):
        nested = f"bash -c {shell_quoted(nested)}"
    assert any(command.is_unknown for command in read_command(nested).commands)


def shell_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


words = st.sampled_from(
    [
        "git",
        "ls",
        "-x",
        "--y=z",
        "'a b'",
        '"c d"',
        'e"f"',
        "'&&'",
        "*.py",
        "~",
        "2",
        "é",
        "a/b",
        "=x",
    ]
)
SIGNS = "| && || ; & 2>&1 >f < ( ) $( ` # ! { } $x \\ ' \" for do done if then fi sudo <<E"
signs = st.sampled_from([*SIGNS.split(" "), "\n", "> f", "bash -c"])
lines = st.lists(words | words | signs, max_size=8).map(" ".join)


@settings(max_examples=400, deadline=None)
@given(st.text() | lines)
def test_reading_never_fails(text: str) -> None:
    line = read_command(text)
    assert isinstance(line, ShellLine)
    assert isinstance(line.commands, tuple)
    assert all(-1 <= command.parent < place for place, command in enumerate(line.commands))
    assert line.base is None or line.base != ""


@settings(max_examples=600, deadline=None)
@given(lines)
@example("ls & > f")
@example("git status > f && ls")
@example("ls 'a b' 2>&1 | git x > f ; e\n ls || git")
@example("bash -c ' git | git '")
def test_the_quick_way_and_the_grammar_agree(text: str) -> None:
    reading = read_tree(text)
    if reading is None or not reading.is_understood:
        return
    line = shell_line._read(text, 0)
    first = next((command for command in reading.commands if command.words), None)
    if first is None or 0 in first.dynamic:
        return
    assert line.is_compound >= reading.is_compound
    assert line.commands[: len(reading.commands)] or not reading.commands
    # `sudo` and `bash -c` run more than the grammar sees, which reads only the line itself.
    is_seen_through = first.words[0] in ("sudo", "bash")
    if not is_seen_through:
        assert line.base == (first.words[0].rpartition("/")[2] or first.words[0])
    if shell_line._plain_words(text) is not None:
        assert [command.words for command in reading.commands] == [shell_line._plain_words(text)]
        assert is_seen_through or line.is_compound == reading.is_compound
    parts = shell_line._plain_parts(text)
    if parts is not None:
        assert parts == reading.commands
        assert reading.is_compound


def test_letters_beyond_ascii_do_not_crash_the_grammar() -> None:
    for place in range(0x80, 0x110000, 0x1000):
        letter = chr(place) if not 0xD800 <= place < 0xE000 else "é"
        line = read_command(f"echo {{{letter}<k $(ls '{letter}')")
        assert "ls" in names(line.text)
    (command,) = read_command("grep 'größe' 日本語.txt \"$(x)\"").commands[:1]
    assert command.words[:3] == ("grep", "größe", "日本語.txt")


def test_what_would_take_the_grammar_for_ever_is_not_given_to_it() -> None:
    for opening in ("<<E\n", "${"):
        line = read_command(opening * 40_000)
        assert not line.is_understood
