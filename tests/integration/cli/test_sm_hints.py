from __future__ import annotations

import pytest

from navi.base.errors import SessionBusy, SessionNotFound, SessionStopped
from navi.cli.sm.hints import in_sm_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SessionNotFound("x").hint, "`sm status` lists the ones you may see"),
        (SessionStopped("x").hint, "start a new one with `sm spawn`"),
        (SessionBusy("x").hint, "end it with `sm stop x`, then try again"),
        ("at and cron_expr can't be combined", "--at and --cron can't be combined"),
        (
            "give one of: at (with tz), every_seconds, cron_expr (with tz)",
            "give --at, --every or --cron",
        ),
        (
            "give it a new time with at, every_seconds or cron_expr",
            "give it a new time with `sm automation edit`",
        ),
        ("tz alone changes nothing", "--tz alone changes nothing"),
        (
            "send it with at, cron_expr or expires_at",
            "use it with --at, --cron or --expires",
        ),
        ("time_limit_seconds is 0", "--time-limit is 0"),
        ("question_deadline_minutes is -1", "--question-deadline is -1"),
        ("raise max_runs first", "raise --max-runs first"),
        ("choose a later expires_at", "choose a later --expires"),
        ("look at every file", "look at every file"),
    ],
)
def test_errors_name_commands_and_options_instead_of_calls_and_fields(
    text: str, words: str
) -> None:
    assert in_sm_words(text) == words
