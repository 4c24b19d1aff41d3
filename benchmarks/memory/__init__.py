"""How fast `recall` builds its index and answers from it, beside peers and a lower bound.

__main__.py         the command: `python -m benchmarks.memory`
home.py             a home full of made transcripts, and what is in them
truth.py            what is in the made files
session.py          what sessions of both clients have in common
claude_session.py   sessions as Claude Code writes them
codex_session.py    sessions as Codex writes them
words.py            English with Zipf's law, code, paths, commands and their output

stage.py            the home, its index, and how `recall` is called
process.py          a command's time, processor time and memory, children included
figures.py          percentiles, and the table that is printed
indexing.py         making the index; nothing changed; one session grew
searching.py        searching the open index
hybrid.py           searching by words and by meaning, with a million vectors
commands.py         `recall` as a new process

floor.py            plain `json.loads` over every line
peers.py            the environment of the peers, made from peers.txt
duckdb_fts.py       DuckDB's own full-text, in that environment
rivals.py           ccusage, fast-resume and claude-code-log
"""
