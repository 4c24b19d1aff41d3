"""`sm`: live sessions, one command per file. Talks to the server.

main.py           the entry point
status.py         list all sessions; report an agent's status
spawn.py, send.py, wait.py, queue.py, clear.py, kill.py  work with one session
output.py, tail.py, transcript.py  its messages
children.py, all.py, me.py, watch.py  sessions and who started them
task.py, task_complete.py  an agent's task
remind.py         one-off reminders; list and stop reminders
recall.py         a session's wake-up, with
recall_plan.py    its arguments, and
recall_answer.py  its actions and output
automation.py     turns on a schedule, with
automation_answer.py  their actions and output
completions.py    a shell's completion script
answer.py         wait for the answer to an input
target.py         find a session by name or id; the calling session
timezone.py       the time zone for reading and printing times
words.py          text and duration arguments
hints.py          the server's hints in the words of the command line
lines.py          sessions, inputs and recalls as text on one line
"""
