"""Agents in tmux panes, where people can watch them and type.

tmux_driver.py      the driver
tmux.py             runs tmux: panes, screens, pasted text
pane_agent.py       the interface between the driver and an agent
pane_program.py     a program that is not an agent
pane_turn.py        submits a prompt, and interrupts the agent if necessary
keystrokes.py       decides which key to press next
transcript_tail.py  follows an agent's own transcript while it works
"""
