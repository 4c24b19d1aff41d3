"""The agents that Navi knows, one folder each. Nothing else knows their files and options.

vendor.py         the base class of every agent
registry.py       every agent, built in or from another package (entry point `navi.vendors`)
source.py         the base class of what reads an agent's sessions for the index
session_files.py  finds an agent's home and its session files
growing_file.py   reads the new lines of a growing file
damaged_line.py   reads what it can of a damaged line
hooks.py          what agents report through their hooks, and how Navi answers
price.py          what a model's tokens cost
settings_file.py  reversible changes to other programs' settings files
json_edit.py      edits a JSON text without reformatting it
agent_settings.py Navi's entries in an agent's settings: install, remove, check
hook_entries.py   Navi's hooks in an agent's settings
installed_version.py which version of an agent is installed, and which hooks it knows
agent_commands.py the commands in an agent's settings that start Navi
claude_code/      Claude Code
codex/            Codex
navi/             Navi's own sessions

To add an agent, add a folder whose `vendor.py` has a subclass of `Vendor`, and register that class
in pyproject.toml. Add other files only for what the agent has, such as hooks.
"""
