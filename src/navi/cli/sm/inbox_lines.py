"""The inbox as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any

from navi.base.timestamps import describe_age
from navi.cli import output
from navi.cli.sm import lines

if TYPE_CHECKING:
    from navi.live.model.wire_format import InboxItemJson, QuestionJson

DETAIL_LINES = 6
"""How much of a question's detail to show; the page shows all of it."""
STYLES = {"question": "yellow", "limit": "red", "failure": "red", "disabled": "red"}


def item_lines(item: InboxItemJson, now: datetime, timezone: tzinfo) -> list[str]:
    """A heading, and below it the reason, what happens if you do nothing, and the options."""
    question = item["question"]
    session_title = lines.plain(item["session_title"], lines.LONGEST)
    title = lines.plain(item["title"])
    where = "" if title == session_title else f"{session_title}: "
    kind = output.styled(item["kind"], STYLES.get(item["kind"], "green"))
    age = describe_age(datetime.fromisoformat(item["since"]), now)
    then = "" if item["then"] is None else f"; {item['then']}"
    body = [f"{lines.plain(item['reason'])}{then}"]
    if question is not None:
        body = [*_detail(question), *body, *_options(question), *_rules(question)]
    if item["snoozed_until"] is not None:
        body.append(f"snoozed until {lines.local_time(item['snoozed_until'], timezone)}")
    name = item["id"] if question is None else question["id"]
    return [f"{kind} {name}, {age}: {where}{title}", *(f"  {line}" for line in body)]


def _detail(question: QuestionJson) -> list[str]:
    parts = [line.rstrip() for line in question["detail"].splitlines() if line.strip()]
    more = [f"… {len(parts) - DETAIL_LINES} more lines"] if len(parts) > DETAIL_LINES else []
    return [*parts[:DETAIL_LINES], *more]


def _options(question: QuestionJson) -> list[str]:
    rows = []
    for number, option in enumerate(question["options"], start=1):
        about = f" ({lines.plain(option['description'])})" if option["description"] else ""
        rows.append(f"{number}. {lines.plain(option['label'])}{about}")
    return rows


def _rules(question: QuestionJson) -> list[str]:
    """The rules that `always` would add, as a diff."""
    rules = [rule for each in question["suggestions"] for rule in each.get("rules") or [each]]
    return [f"always adds: + {lines.plain(_rule_words(rule), lines.LONGEST)}" for rule in rules]


def _rule_words(rule: Mapping[str, Any]) -> str:
    """`Bash(touch made *)`, or the fields of another agent's rule."""
    if "toolName" in rule:
        content = f"({rule['ruleContent']})" if rule.get("ruleContent") else ""
        return f"{rule['toolName']}{content}"
    return " ".join(
        " ".join(map(str, value)) if isinstance(value, list) else str(value)
        for value in rule.values()
    )


def asks(question: QuestionJson) -> str:
    """The question of a waiting session, on one line."""
    return f"asks: {lines.plain(question['title'])}"


def how_to_answer(questions: Sequence[QuestionJson]) -> str | None:
    """The command that answers the first question."""
    if not questions:
        return None
    question = questions[0]
    permission = "allow|always|deny" if question["suggestions"] else "allow|deny"
    words = {"permission": permission, "plan": "allow|deny", "choice": "NUMBER|TEXT|deny"}
    return f"`sm answer {question['id']} {words.get(question['kind'], 'TEXT|deny')}` answers"
