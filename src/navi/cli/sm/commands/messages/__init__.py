"""Commands for what people and agents say to each other.

send.py           send a message to a session
wait.py           wait until a session is idle
output.py         a session's last answer
tail.py           a session's last messages, and with -f new ones
transcript.py     shared by output.py and tail.py
queue.py          a session's undelivered inputs
inbox.py          everything that is waiting for a person
answer.py         answer an agent's question
task.py           an agent's task
task_complete.py  report that the task is done
"""
