"""`sm`, the session manager: live sessions, through the server.

main.py                the entry point, and the table of commands
commands/              one command per file
target.py              finds a session by name or id, and the calling session
session_completion.py  completes the names of sessions in a shell
session_help.py        the sentence about SESSION in help texts
answer.py              waits for the answer to an input and prints it
overview.py            the table of sessions
inbox_lines.py         the inbox as text
inbox_completion.py    completes the ids of inbox items in a shell
question_target.py     finds the question that a person answers
answer_words.py        reads a person's answer, and describes its result
reader.py              marks a session as read
lines.py               sessions, inputs and recalls as lines of output
words.py               texts and durations from the command line
timezone.py            the zone in which times are read and shown
hints.py               the server's errors, reworded for the command line
recall_plan.py         reads the arguments of `sm recall`
recall_actions.py      what `sm recall` does and prints
automation_actions.py  what `sm automation` does and prints
"""
