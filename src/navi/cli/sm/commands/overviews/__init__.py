"""Commands that show several sessions at a glance.

status.py    all sessions; or report the calling agent's status
watch.py     all sessions, live
all.py       every session below its parent
children.py  the sessions that a session started
me.py        the calling agent's own session
limit.py     usage limits of agents' accounts
budget.py    budgets of tokens or dollars
"""
