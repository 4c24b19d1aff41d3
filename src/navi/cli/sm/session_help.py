"""What SESSION accepts, for the help texts. `target.choose` does what these sentences say."""

SESSION_HELP = (
    "SESSION is a name or the start of one, an id, or at least the first 4 characters of an id."
)
EXACT_SESSION_HELP = (
    "SESSION must be a whole name, an id, or at least the first 4 characters of an id."
)
"""For commands that can't be undone."""
