"""Finds keys, tokens and passwords in a text and masks them.

masking.py           `mask` and its variants: all that other packages need
secret_kind.py       a row of the tables below: a pattern and the example that proves it
secret_tokens.py     secrets recognized by their form, mostly by a prefix
secret_places.py     secrets recognized by their context: a header, a URL, an assignment
secret_arguments.py  passwords on command lines
secret_values.py     tells a secret value from code, prose and placeholders
"""
