"""Asks for confirmation before something is removed."""

from __future__ import annotations

import sys

import click

from navi.base.errors import UsageError
from navi.cli import output


def require_confirmation(*questions: str) -> None:
    """Exit unless the person answers yes to every question."""
    if not sys.stdin.isatty():
        raise UsageError(
            "can't ask for confirmation without a terminal", hint="pass --yes to skip the question"
        )
    if not all(click.confirm(question, err=True) for question in questions):
        output.note("nothing was removed")
        sys.exit(1)
