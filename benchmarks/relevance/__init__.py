"""How well `recall search` finds what people half remember, compared with the first release.

__main__.py      the command: `python -m benchmarks.relevance`
corpus.py        sessions written by hand, in `stories`, and questions about them
chatter.py       generated sessions around them, and filler for tools' outputs
transcripts.py   a session as Claude Code or Codex writes it
released.py      the search of the first release, for comparison
measure.py       the rank of the right session for each question, and MRR and recall
"""
