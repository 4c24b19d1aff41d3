"""Agents in tmux panes, where people can watch them and type.

tmux_driver.py      the driver
tmux.py             runs tmux: panes, screens, pasted text
pane_agent.py       what the driver needs to know about an agent
pane_program.py     a program that is not an agent
pane_turn.py        submits a prompt, and interrupts the agent if necessary
keystrokes.py       which key a turn in a pane needs next
transcript_tail.py  follows an agent's own transcript while it works
"""
