"""Asking the person before something is removed."""

from __future__ import annotations

import sys

import click

from navi.cli import output
from navi.domain.errors import UsageError


def require_confirmation(*questions: str) -> None:
    """End the command unless a person says yes to all of them."""
    if not sys.stdin.isatty():
        raise UsageError(
            "can't ask for confirmation without a terminal", hint="pass --yes to skip the question"
        )
    if not all(click.confirm(question, err=True) for question in questions):
        output.note("nothing was removed")
        sys.exit(1)
