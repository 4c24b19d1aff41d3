"""The commands of `sm`, one per file.

spawn.py          start a session
send.py           send a message to a session
status.py         all sessions at a glance; or report what you are doing
watch.py          all sessions, live
all.py            every session below its parent; children.py and me.py show parts of that tree
wait.py           wait until a session is idle
output.py         a session's last answer
tail.py           a session's last messages, and what follows
transcript.py     shared by output.py and tail.py
queue.py          a session's undelivered inputs
task.py           an agent's task; task_complete.py reports that it is done
remind.py         reminders
recall.py         wake a session later
automation.py     turns on a schedule
attach.py         look into a session's terminal
clear.py          give a session a new context
kill.py           end a session
completions.py    a shell's completion script
"""
