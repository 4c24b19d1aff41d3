"""The full-screen picker: `recall pick`, and `recall` alone on a terminal.

The state is an immutable value: a key or an answer produces the next state, from which the screen
is drawn. Only the last four files import prompt_toolkit, and only when a picker opens.

state.py           the picker's state, and its requests for data
updates.py         the next state after a key or an answer
arrangement.py     how the screen is divided
view.py            a state as styled text
preview_view.py    the preview as lines
screen_text.py     text that has the same width in every terminal
keys.py            the help texts of the keys
session_reader.py  reads lists and previews from the index
meaning_search.py  searches by words and by meaning
freshness.py       updates the index while the picker is open
actions.py         actions outside the picker: copy, open, wake
terminal.py        finds the terminal, even if standard output is a pipe
screen.py          the windows of the screen
bindings.py        binds keys to functions
picker.py          the application: state, screen, keys and tasks together
"""
