"""The sentence about SESSION in help texts. `target.choose` implements it."""

SESSION_HELP = (
    "SESSION is a name or the start of one, an id, or at least the first 4 characters of an id."
)
EXACT_SESSION_HELP = (
    "SESSION must be a whole name, an id, or at least the first 4 characters of an id."
)
"""For commands that can't be undone."""
