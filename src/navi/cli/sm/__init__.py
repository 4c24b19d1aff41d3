"""`sm`: live sessions, one command per file. Talks to the server.

main.py           the entry point
status.py         all sessions at a glance
recall.py         a session's wake-up, with
recall_plan.py    what its words ask for, and
recall_answer.py  what is done and said then
automation.py     turns on a schedule, with
automation_answer.py  what is done and said about them
completions.py    a shell's completion script
target.py         which session somebody means
lines.py          sessions and recalls the way they look on a line
"""
