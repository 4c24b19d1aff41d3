"""The results of `navi doctor` and `recall doctor`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NoReturn

from navi.cli import output


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. `hint` says what to do about it."""

    name: str
    status: str
    """`ok`, `note` (worth knowing) or `problem`."""
    detail: str
    hint: str = ""


def report(findings: Sequence[Finding], *, as_json: bool) -> NoReturn:
    """Print the findings and exit, with 1 if there is a problem."""
    if as_json:
        output.say_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            output.say(f"{finding.status:8} {finding.name:12} {finding.detail}")
            if finding.hint:
                output.say(f"{'':21} hint: {finding.hint}")
    sys.exit(1 if any(finding.status == "problem" for finding in findings) else 0)
