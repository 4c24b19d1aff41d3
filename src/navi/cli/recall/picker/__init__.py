"""The full-screen picker: `recall pick`, and `recall` alone on a terminal.

State is a value: keys and answers turn one state into the next, and drawing is a function of it.
Only the last four files know prompt_toolkit, which is imported when a picker opens.

state.py           what the picker shows, as a value
updates.py         the next state after a key or an answer
arrangement.py     how the screen is divided
view.py            a state as styled text
preview_view.py    the preview as lines
screen_text.py     text that every terminal measures alike
keys.py            the keys, as the screen explains them
session_reader.py  reads what the picker asks for from the index
meaning_search.py  searches by meaning, too
freshness.py       brings the index up to date beside the picker
actions.py         what keys do outside the picker: copy, open, wake
terminal.py        finds the terminal, even if standard output is a pipe
screen.py          the windows of the screen
bindings.py        which key calls what
picker.py          the application: state, screen, keys and tasks together
"""
