"""How quickly `sm` answers, and how quickly messages reach their agents.

commands.py    `sm` as a command: a new process each time
deliveries.py  from sending a message to the turn that it begins, for each driver
idle.py        the cost of live sessions that do nothing
"""
