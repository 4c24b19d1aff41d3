"""Sets aside rows that can't be handled, so that they don't block the others.

set_aside.py   the record of rows set aside
bad_inputs.py  inputs that can't be read
bad_turns.py   turns that can't be read or closed
"""
