"""What came of sessions: two side by side, or many of a few days.

command_kinds.py       commands worth mentioning: commits and runs of tests
output_lines.py        the line of an output that says best what happened
changed_paths.py       which tools change files, and the paths of these files
session_profile.py     one session's prompts, commands, files, tools and cost
session_comparison.py  what two profiles have in common, and what only one has
digest.py              what was asked, done and failed in each project: pure decisions
digest_rows.py         what a digest is made from, out of the index
digest_text.py         a digest as text: for people, as Markdown, and for a model
"""
