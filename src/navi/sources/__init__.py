"""Agents' own files, read as values of the domain. The only place that knows foreign field names.

source.py       what a source offers, and which ones are installed
lines.py        whole lines of a growing file, and the mark from which a later read goes on
damage.py       what can still be read of a line that no longer decodes
claude_code.py  Claude Code's transcripts
codex.py        Codex's rollouts
navi.py         Navi's own sessions, from the live store
"""
