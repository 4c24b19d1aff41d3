"""Things that come due. Each kind answers two questions: when is the next one, and claim what is.

contract.py     what every kind offers; the next instant of all kinds; setting a bad row aside
recalls.py      sessions' own wake-ups
automations.py  scheduled turns
nudges.py       agents that have not reported
reminders.py    one-off reminders

Claiming a row and admitting its input are one transaction. A row may be claimed up to its kind's
`lead` before its instant; its input then carries `not_before`, and waits for it in the queue.
"""
