"""The vectors of people's and agents' messages, in files beside the full-text folder.

passages.py       cuts messages into passages, one for each vector
vector_files.py   the files, opened for reading
vector_writer.py  appends to the files
vector_locks.py   one process at a time, a person's command first
backfill.py       makes the vectors that are missing
nearest.py        finds the passages nearest to a query
"""
