"""Reads agents' files into the index.

refresh.py          one pass: bring the index up to date
watch.py            runs a pass whenever agents' files change
freshness.py        how old the index is, and how much a pass would read
plan.py             which files have to be read
unchanged.py        recognises unchanged session files without opening a database
file_reader.py      reads one file part by part, as columns
reading_process.py  runs file_reader.py in a process of its own
pipeline.py         writes changed files to DuckDB and tantivy, batch by batch
report.py           progress and result of a pass
index_lock.py       one writer at a time
backup.py           `--recreate`: starts a new index and keeps the old one
upgrade.py          brings an index of an earlier version up to date
derived/            what is derived from a session while reading it
write/              the two engines: DuckDB and tantivy
"""
