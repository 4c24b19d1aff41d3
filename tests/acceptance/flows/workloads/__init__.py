"""What clients do while a storm kills their servers, one file for each kind of work.

- inputs.py       people send numbered inputs to many sessions
- messages.py     a lead writes to its workers and asks for notices and reminders
- questions.py    agents ask people, and are killed while they wait
- recalls.py      sessions schedule recalls: single, recurring, and chains of them
- automations.py  sessions add automations of every schedule; some deliver to another session

Messages to real agents are in tests/acceptance/clients/agent_storm.py.
"""
