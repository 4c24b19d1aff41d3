"""`sm`, the session manager: live sessions, through the server.

main.py               the entry point, and the table of commands
commands/             one command per file
target.py             finds the session that is named, and the one that is calling
answer.py             waits for the answer to an input and prints it
lines.py              sessions, inputs and recalls as lines of output
words.py              texts and durations from the command line
timezone.py           the zone in which times are read and shown
hints.py              the server's hints, reworded for the command line
recall_plan.py        what the words after `sm recall` ask for
recall_answer.py      what `sm recall` does and prints
automation_answer.py  what `sm automation` does and prints
"""
