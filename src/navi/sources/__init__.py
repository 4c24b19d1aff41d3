"""Agents' own files, read as values of the domain. The only place that knows foreign field names.

source.py               what a source offers, and which ones are installed
folders.py              looking for files without opening them
lines.py                whole lines of a growing file, and the mark from which a later read goes on
damage.py               what can still be read of a line that no longer decodes
claude_code.py          Claude Code's transcripts
claude_code_lines.py    their lines
claude_code_repeats.py  lines that say again what earlier ones said
codex.py                Codex's rollouts
codex_lines.py          their lines
codex_titles.py         the names that people gave them
navi.py                 Navi's own sessions, from its live store
"""
