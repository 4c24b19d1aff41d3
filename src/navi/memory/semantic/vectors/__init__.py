"""The vectors of what people and agents said, in files beside the full-text folder.

passages.py       cuts what was said into passages, one for each vector
vector_files.py   the files, opened for reading
vector_writer.py  appends to them
vector_locks.py   one process at a time, a person's command first
backfill.py       makes the vectors that are missing
nearest.py        finds those nearest to a query
"""
