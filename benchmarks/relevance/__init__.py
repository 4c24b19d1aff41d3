"""How well `recall search` finds what people half remember, beside the search as it was released.

__main__.py      the command: `python -m benchmarks.relevance`
corpus.py        the sessions written by hand, in `stories`, and the questions about them
chatter.py       the sessions around them, and what fills the outputs of tools
transcripts.py   a session as Claude Code or Codex writes it
released.py      the search of the first release, for comparison
measure.py       the rank of the right session for each question, and the figures from that
"""
