"""Drivers: each runs a turn with one kind of agent and reports events.

driver.py        the interface that every driver implements
builtin/         Navi's own agent: a model and our tools
command_line/    agents run once per turn, without a terminal
terminal/        agents in tmux panes
usage_limits.py  recognises vendors' usage-limit errors
shielding.py     lets work finish although its caller is cancelled
"""
