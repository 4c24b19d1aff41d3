"""What agents read of the memory: quoted, with its origin, within a number of tokens.

token_budget.py    estimates tokens, and counts what is left
quotation.py       marks text as said in earlier sessions
found_passages.py  what a search found
session_extract.py one session, or the part around a message
file_history.py    the sessions that touched a file
index_progress.py  how much is searchable while the index is being built
"""
