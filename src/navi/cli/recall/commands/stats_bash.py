"""`recall stats bash`: which commands ran, and which to allow."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from navi.base.control_characters import one_line
from navi.base.errors import UsageError
from navi.base.secrets.masking import masked as mask
from navi.cli import formats, output
from navi.cli.recall.no_matches import explain_no_stats, host_for_statistics
from navi.cli.recall.options import (
    host_option,
    json_option,
    project_option,
    since_option,
    source_option,
)
from navi.cli.table import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from navi.permissions.suggestions import Skipped, Suggestion, Suggestions
    from navi.vendors.settings_file import Change

LINE_LIMIT = 25
"""As many lines as fit on a screen with headings and notes."""
SECTION_LIMITS = {"medium": 6, "review": 4, "skipped": 4}
HEADINGS = {
    "high": "High confidence (>=50 uses, no dangerous patterns):",
    "medium": "Medium confidence (>=10 uses):",
    "review": "Review carefully (contains arguments/pipes):",
}


@click.command("bash", help="Show which commands ran, or suggest which to allow.")
@click.option("--suggest", is_flag=True, help="Suggest permission rules for Claude Code.")
@click.option(
    "--apply",
    "applies",
    is_flag=True,
    help="Add the suggested rules to Claude Code's settings, except those marked for review. "
    "Asks first.",
)
@click.option(
    "--all",
    "shows_all",
    is_flag=True,
    help="With --suggest or --apply: show every suggestion, with examples.",
)
@click.option("--undo", is_flag=True, help="Undo the last --apply.")
@click.option("-y", "--yes", is_flag=True, help="Don't ask for confirmation.")
@source_option
@since_option
@project_option
@host_option
@json_option
def command(
    suggest: bool,
    applies: bool,
    shows_all: bool,
    undo: bool,
    yes: bool,
    source: str | None,
    since: datetime | None,
    project: str | None,
    host: str | None,
    as_json: bool,
) -> None:
    from navi.memory import database
    from navi.memory.index_paths import index_paths
    from navi.memory.read import statistics

    if undo:
        _undo(yes)
        return
    if applies and as_json:
        raise UsageError(
            "--apply asks for confirmation and can't be combined with --json",
            hint="use one or the other",
        )
    scope = statistics.Scope(source, project, since, host=host_for_statistics(host))
    if suggest or applies:
        from navi.permissions.suggestions import suggest as suggest_rules

        with database.reading(index_paths()) as connection:
            commands = statistics.commands(connection, scope)
        rules = suggest_rules(commands)
        if as_json:
            from navi.memory.read.json_views import suggestions_json

            output.say_json(suggestions_json(rules))
        else:
            _show_suggestions(rules, shows_all)
        if applies:
            _apply(rules, yes)
        return
    with database.reading(index_paths()) as connection:
        rows = statistics.bash_commands(connection, scope)
    if as_json:
        output.say_json(rows)
        return
    if rows:
        _show_rows(rows)
    else:
        explain_no_stats("commands", source, project, since, host)


def _show_rows(rows: list[dict[str, Any]]) -> None:
    largest = max(row["count"] for row in rows)
    output.table(
        [
            Column("COMMAND", needed_width=20, style="cyan"),
            Column("USES", is_number=True),
            Column("COMPOUND", is_number=True),
            Column("", rank=1, style="dim"),
        ],
        [
            [
                one_line(" ".join(filter(None, (row["bash_base"], row["bash_sub"]))) or "?"),
                f"{row['count']:,}",
                f"{row['compound']:,}",
                formats.bar(row["count"] / largest),
            ]
            for row in rows
        ],
    )


def _show_suggestions(rules: Suggestions, shows_all: bool) -> None:
    if not rules.suggestions and not rules.skipped:
        output.note("found no commands; `recall index` reads the agents' files")
        return
    sections: dict[str, Sequence[Suggestion | Skipped]] = {
        confidence: [each for each in rules.suggestions if each.confidence == confidence]
        for confidence in HEADINGS
    }
    sections["skipped"] = rules.skipped
    limits = {name: len(each) for name, each in sections.items()}
    if not shows_all:
        limits = _limits(limits)
    output.say("Suggested Bash Permissions")
    output.say("==========================")
    for name, section in sections.items():
        if section:
            output.say(f"\n{HEADINGS.get(name, 'Not suggested:')}")
        for each in section[: limits[name]]:
            _say_rule(each, shows_all)
    _say_footnotes(rules, sum(map(len, sections.values())) - sum(limits.values()))


def _limits(lengths: dict[str, int]) -> dict[str, int]:
    """How many lines of each section to print; `high`, then `medium`, get the room that is left."""
    limits = {name: min(SECTION_LIMITS[name], lengths[name]) for name in SECTION_LIMITS}
    for name in ("high", "medium"):
        limits.setdefault(name, 0)
        room = LINE_LIMIT - sum(limits.values())
        limits[name] = min(lengths[name], limits[name] + room)
    return limits


def _say_rule(rule: Suggestion | Skipped, shows_all: bool) -> None:
    from navi.permissions.guards import SHARED_GUARDS
    from navi.permissions.suggestions import Skipped

    remark, own_guards = "", []
    if isinstance(rule, Skipped):
        remark = f" [SKIPPED] {rule.reason}"
    else:
        own_guards = [guard for guard in rule.guards if guard not in SHARED_GUARDS]
    if own_guards:
        remark = f" +{formats.count(len(own_guards), 'guard')}"
    uses = f"({formats.count(rule.count, 'use')})"
    output.say(f"  - {formats.shortened(mask(rule.pattern), 60):<30} {uses}{remark}")
    if not shows_all:
        return
    if rule.projects:
        projects = ", ".join(formats.short_path(project) for project in rule.projects)
        output.say(f"      in: {projects}")
    for example in rule.examples:
        output.say(f"      e.g. {formats.shortened(mask(example), 100)}")
    for guard in own_guards:
        output.say(f"      asks: {guard}")


def _say_footnotes(rules: Suggestions, left_out: int) -> None:
    from navi.permissions.guards import SHARED_GUARDS

    if left_out:
        output.say(f"\nNot shown: {left_out:,} more; --all shows everything, with examples.")
    if any(each.guards for each in rules.suggestions):
        output.say(
            "\nRules with * come with guards: `ask` rules for harmful variants, "
            f"{len(SHARED_GUARDS)} of them shared.\n"
            "Claude Code 2.1.325 asks before writing output to a file; older versions may not."
        )


def _apply(rules: Suggestions, yes: bool) -> None:
    from navi.vendors.claude_code.settings import ClaudeCodeSettings, plan_rules

    confident = [each for each in rules.suggestions if each.confidence != "review"]
    change = plan_rules(
        ClaudeCodeSettings().hooks_file,  # the permission rules are in the same file
        [each.rule for each in confident],
        {each.rule: each.guards for each in confident},
        _receipts_file(),
    )
    if not change.is_needed:
        output.note(f"there are no rules to add to {change.path}")
        return
    output.say()
    output.diff(change.diff())
    _write(change, yes, "written; `recall stats bash --undo` reverts it")


def _undo(yes: bool) -> None:
    from navi.vendors.claude_code.settings import plan_rules_undo

    change = plan_rules_undo(_receipts_file())
    output.diff(change.diff())
    _write(change, yes, "undone")


def _write(change: Change, yes: bool, result: str) -> None:
    if yes or click.confirm(f"Write this to {change.path}?", err=True):
        change.write()
        output.note(result)
    else:
        output.note("nothing was written")


def _receipts_file() -> Path:
    from navi.memory.index_paths import index_paths

    paths = index_paths()
    paths.prepare()
    return paths.database.with_name("permissions.json")
