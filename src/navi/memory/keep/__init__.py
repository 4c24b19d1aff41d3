"""Keeps session files that their agents delete. Needs no index to restore one.

keep_setting.py  which sessions are kept: the chosen ones, or all
kept_files.py    the list of kept files, and where their copies are
file_copy.py     one compressed copy: made, continued, read back
keeping.py       keeps files, follows them as they grow, and stops keeping them
restoring.py     writes a kept file back to its place
deletion.py      which sessions their agents are about to delete
"""
