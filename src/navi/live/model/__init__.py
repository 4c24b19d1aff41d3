"""Values and decisions. Pure: no I/O, no clock.

session.py            a conversation with one agent, and its states
session_reference.py  a session named by id, prefix or name
input.py              something that wants a turn, and which one goes next
turn.py               one run of an agent, and how it can end
event.py              what happens during a turn
message.py            the transcript, and how events become messages
replay.py             skips events that are already stored when a turn is replayed
tool.py               what an agent can call
tool_call.py          checks the arguments of a call and runs the tool
validation.py         checks JSON against a model and explains what is wrong
refusal.py            a call the agent was not allowed to make
hook_report.py        what an agent's hook reports
wire_format.py        these values as JSON, under the names other programs rely on
scheduling/           recalls, automations and reminders
access/               users, callers, logins and quotas
"""
