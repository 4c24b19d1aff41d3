"""Which commands a shell line runs.

shell_line.py     the public functions: a line's first command, and all of its commands
shell_command.py  one simple command, and the commands that it runs in turn
shell_tree.py     simple commands read from the syntax tree of the bash grammar
"""
