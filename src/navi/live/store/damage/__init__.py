"""Rows that can't be handled are set aside, so that all others go on.

set_aside.py   the record of rows set aside
bad_inputs.py  inputs that can't be read
bad_turns.py   turns that can't be read or closed
"""
