"""Reads the arguments of `sm recall`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import UTC, datetime

from navi.base.errors import InvalidInput, UsageError
from navi.base.stored_text import require_printable
from navi.base.time_expressions import parse_when
from navi.cli.sm import lines
from navi.live.model.scheduling.recall import COMMENT_LIMIT, CallType, parse_interval
from navi.live.model.scheduling.recall_request import RecallRequest


def read(
    session: str,
    texts: Sequence[str],
    actions: Sequence[str] = (),
    *,
    every: str | None = None,
    is_now: bool = False,
    comment: str | None = None,
) -> RecallRequest | str:
    """A request to schedule a recall, or the action to take: one of `actions`, or `show`.

    Raises UsageError if the arguments make no sense together; its hint shows what works.
    """
    if comment is not None:
        require_printable("--comment", comment, COMMENT_LIMIT)
    command = f"sm recall {shlex.quote(session)}"
    options = {"--every": every is not None, "--now": is_now, "--comment": comment is not None}
    used_options = [option for option, is_used in options.items() if is_used]
    if actions:
        others = [
            *(f"--{each}" for each in actions[1:]),
            *used_options,
            *(_quoted(each) for each in texts),
        ]
        if others:
            raise UsageError(
                f"--{actions[0]} and {others[0]} can't be combined",
                hint=f"`{command} --{actions[0]}` on its own, and the other separately",
            )
        return actions[0]
    if not texts and not used_options:
        return "show"
    when, instruction = _when_and_instruction(command, texts, every=every, is_now=is_now)
    if every is None:
        kind = CallType.IMMEDIATE if is_now else CallType.ONCE
    else:
        kind = CallType.RECURRING
        when = "now" if is_now else when or every
    return RecallRequest(
        call_type=kind,
        when=when,
        interval_seconds=None if every is None else parse_interval(every),
        additional_context_message=instruction,
        internal_comment=comment,
    )


def _when_and_instruction(
    command: str, texts: Sequence[str], *, every: str | None, is_now: bool
) -> tuple[str | None, str]:
    """The arguments WHEN (None if it is left out) and INSTRUCTION."""
    repeat = "" if every is None else f" --every {shlex.quote(every)}"
    if len(texts) > 2:
        now = " --now" if is_now else ""
        raise UsageError(
            f"{len(texts)} arguments are too many: give a time and an instruction",
            hint=f"put each in quotes: `{command}{now} {_requoted(texts, is_now)}{repeat}`",
        )
    if is_now and len(texts) == 2:
        raise UsageError(
            f"--now and {_quoted(texts[0])} can't be combined",
            hint=f"`{command} --now {shlex.quote(texts[1])}{repeat}`, or leave out --now",
        )
    if len(texts) == 2:
        return texts[0], texts[1]
    if not texts or _is_time(texts[0]):
        if is_now:
            when = "--now"
        else:
            when = shlex.quote(texts[0]) if texts else '"30m"'
        raise UsageError(
            "the instruction is missing: say what to do at that time",
            hint=f'`{command} {when} "Read build.log and report errors."{repeat}`',
        )
    if is_now or every is not None:
        return None, texts[0]
    raise UsageError(
        f"{_quoted(texts[0])} is not a time",
        hint=f'`{command} "30m" {shlex.quote(texts[0])}`, or use --now',
    )


def _requoted(words: Sequence[str], is_now: bool) -> str:
    """Put quotes around the time and the instruction that someone wrote without quotes."""
    if is_now:
        return shlex.quote(" ".join(words))
    for count in range(len(words) - 1, 0, -1):
        when, instruction = " ".join(words[:count]), " ".join(words[count:])
        if _is_time(when):
            return f"{shlex.quote(when)} {shlex.quote(instruction)}"
    return f'"30m" {shlex.quote(" ".join(words))}'


def _is_time(text: str) -> bool:
    try:
        parse_when(text, datetime(2000, 1, 1, tzinfo=UTC), UTC)
    except InvalidInput:
        return False
    return True


def _quoted(text: str) -> str:
    return repr(lines.plain(text, lines.LONGEST))
