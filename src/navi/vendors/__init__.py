"""The agent programs that Navi supports, one folder each. No other package has their details.

vendor.py         the base class of every agent
registry.py       every agent, built in or from another package (entry point `navi.vendors`)
source.py         the base class for reading an agent's sessions into the index
session_files.py  finds an agent's home and its session files
growing_file.py   reads the new lines of a growing file
damaged_line.py   decodes as much as possible of a damaged line
hooks.py          the reports of agents' hooks, and Navi's answers
price.py          the price of a model's tokens
settings_file.py  reversible changes to other programs' settings files
json_edit.py      edits a JSON text without reformatting it
agent_settings.py Navi's entries in an agent's settings: install, remove, check
hook_entries.py   Navi's hooks in an agent's settings
installed_version.py an agent's installed version, and the hook events it supports
agent_commands.py the commands in an agent's settings that start Navi
claude_code/      Claude Code
codex/            Codex
navi/             Navi's own sessions

To add an agent, add a folder whose `vendor.py` has a subclass of `Vendor`, and register that class
in pyproject.toml. Add other files only for features of the agent, such as hooks.
"""
