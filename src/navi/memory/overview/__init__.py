"""What sessions did: two of them compared, or a digest of many.

command_kinds.py       commands worth mentioning: commits and runs of tests
output_lines.py        the most telling line of an output
changed_paths.py       which tools change files, and the paths of these files
session_profile.py     one session's prompts, commands, files, tools and cost
session_comparison.py  compares two profiles, item by item
digest.py              each project's prompts, work, failures and cost: pure decisions
digest_rows.py         reads the rows of the index that a digest is made from
digest_text.py         a digest as text: for people, as Markdown, and for a model
"""
