"""The tool `terminal`: commands run by the shell.

terminal.py       the tool
process_group.py  a command and the processes it starts, treated as one
process_tree.py   finds processes that left their group
"""
