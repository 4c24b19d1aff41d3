"""Answers for agents: quoted, with their origin, within a token budget.

token_budget.py    estimates tokens, and counts what is left
quotation.py       marks text as a quotation from an earlier session
found_passages.py  the results of a search
session_extract.py one session, or the part around a message
file_history.py    the sessions that touched a file
index_progress.py  how much is searchable while the index is being built
"""
