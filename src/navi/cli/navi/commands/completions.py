"""`navi completions`: a shell's completion script."""

from __future__ import annotations

from navi.cli.completions import completions_of

command = completions_of("navi")
