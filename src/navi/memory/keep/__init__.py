"""Keeps copies of session files that agents may delete. Restoring one needs no index.

keep_setting.py  which sessions are kept: the chosen ones, or all
kept_files.py    the list of kept files, and where their copies are
file_copy.py     writes, extends and reads a compressed copy
keeping.py       keeps files, follows them as they grow, and stops keeping them
restoring.py     writes a kept file back to its place
deletion.py      which sessions their agents are about to delete
"""
