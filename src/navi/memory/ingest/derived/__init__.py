"""What is derived from a session while it is read.

titles.py           a title for a session whose agent gave it none
touched_files.py    the files that a tool call names
output_excerpts.py  an output's beginning, its end and its errors
projects.py         the project a folder belongs to: the root of its git repository
"""
