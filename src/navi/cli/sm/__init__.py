"""`sm`: live sessions, one command per file. Talks to the server.

main.py           the entry point
status.py         all sessions at a glance; what an agent reports
spawn.py, send.py, wait.py, queue.py, clear.py, kill.py  work with one session
output.py, tail.py, transcript.py  what was said in it
children.py, all.py, me.py, watch.py  who is there, and who started whom
task.py, task_complete.py  what an agent was asked to do
remind.py         a reminder for once; the end of repeated ones
recall.py         a session's wake-up, with
recall_plan.py    what its words ask for, and
recall_answer.py  what is done and said then
automation.py     turns on a schedule, with
automation_answer.py  what is done and said about them
completions.py    a shell's completion script
answer.py         the answer to an input, waited for
target.py         which session somebody means, and which one is calling
timezone.py       the zone in which times are read and shown
words.py          texts and times of the command line
hints.py          the server's hints in the words of the command line
lines.py          sessions, inputs and recalls the way they look on a line
"""
