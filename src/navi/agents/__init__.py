"""Drivers: each runs a turn with one kind of agent and reports what happens as events.

driver.py       what every driver offers
builtin.py      Navi's own agent, on pydantic-ai
models.py       which model a name means, where it is asked, and with which key
toolbox.py      our tools as the agent calls them
translation.py  what happens in the agent's loop, as our events
history.py      what of a session's past the model is shown, and when it is too long
summary.py      the words that stand in for the part it no longer sees
failures.py     what went wrong with a model, in words for the session
limits.py       which failures are usage limits, and when they end
scripted.py     a model that plays what the message says; needs no network

Agents that are programs of their own:

headless.py     turns that are one run of a command line
client_run.py   such a run, which outlives the server
client_environment.py  what those programs find in their environment
following.py    what an agent in a terminal says, read from its transcript
shielding.py    work that goes on to its end when the turn is cancelled
panes.py        turns in a pane of tmux that a person can look into
pane_turn.py    one turn in a pane: submitting, following, interrupting
pane_program.py a turn with a program that is none of the known agents
keystrokes.py   when to press a key again, and when to give up
tmux.py         tmux itself
pane_agent.py   what panes.py needs to know of the agent in a pane

What they know of one program is in navi/vendors.
"""
