"""`recall`: the memory, on the command line.

main.py       the entry point, and the table of commands
commands/     one command per file
options.py    options that several commands share
filters.py    why a list or search is empty
freshness.py  indexes what is new before a command answers
progress.py   the progress bar
hits.py       search results on a terminal
page.py       messages as harmless HTML
documents.py  a session as a document to keep or share
"""
