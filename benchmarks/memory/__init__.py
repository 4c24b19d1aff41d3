"""How fast `recall` builds and searches its index, compared with peers and a lower bound.

__main__.py         the command: `python -m benchmarks.memory`
home.py             a home full of generated transcripts, and the expected counts
truth.py            the expected counts
session.py          what generated sessions of both clients share
claude_session.py   sessions as Claude Code writes them
codex_session.py    sessions as Codex writes them
words.py            English with Zipf's law, code, paths, commands and their output

stage.py            the home, its index, and how `recall` is called
process.py          a command's time, processor time and memory, children included
figures.py          percentiles, and the table that is printed
indexing.py         building the index, and refreshing it
searching.py        searching the open index
hybrid.py           searching by words and by meaning, with a million vectors
commands.py         `recall` as a new process

floor.py            plain `json.loads` over every line
peers.py            the peers' Python environment, built from peers.txt
duckdb_fts.py       DuckDB's own full-text search, in the peers' environment
rivals.py           ccusage, fast-resume and claude-code-log
"""
