"""The agents that Navi knows, one folder each. Nothing else knows their files, fields and options.

vendor.py         what Navi asks of an agent: the class to derive from
registry.py       every agent, built in or from another package (entry point `navi.vendors`)
source.py         what reads an agent's sessions for the index
session_files.py  finding an agent's home and its sessions' files
growing_file.py   the new lines of a file, and the mark from which the next read goes on
damaged_line.py   what can still be read of a line that no longer decodes
hooks.py          what agents report by their hooks, and what they are answered
price.py          what a model's tokens cost
settings_file.py  reversible changes to other programs' settings files
json_edit.py      edits a JSON text without reformatting it
agent_settings.py Navi's entries in an agent's settings: install, remove, check
hook_entries.py   the hooks among them
agent_commands.py the commands in those settings
claude_code/      Claude Code
codex/            Codex
navi/             Navi's own sessions

To add an agent, add a folder with a `vendor.py`, and name it in pyproject.toml.
"""
