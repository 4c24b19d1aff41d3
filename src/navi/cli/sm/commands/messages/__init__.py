"""Commands for messages between people and agents.

send.py           send a message to a session
wait.py           wait until a session is idle
output.py         a session's last answer
tail.py           a session's last messages, and with -f new ones
transcript.py     messages as text, for output.py and tail.py
queue.py          a session's undelivered inputs
inbox.py          everything that is waiting for a person
answer.py         answer an agent's question
task.py           an agent's task
task_complete.py  report that the task is done
"""
