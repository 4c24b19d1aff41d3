"""Agents in a terminal that a person can look into: tmux panes.

tmux_driver.py      the driver
tmux.py             tmux itself: panes, screens, pasted text
pane_agent.py       what the driver must know about the agent in a pane
pane_program.py     a program in a pane that Navi knows nothing about
pane_turn.py        submits a prompt, and interrupts it if necessary
keystrokes.py       which key a turn in a pane needs next
transcript_tail.py  follows an agent's own transcript while it works
"""
