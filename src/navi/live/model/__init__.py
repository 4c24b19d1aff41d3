"""Values and decisions. Pure: no I/O, no clock.

session.py            a conversation with one agent, and its states
attention.py          whether a session needs a person
agent_option.py       an agent to offer for a new session
session_reference.py  a session named by id, prefix or name
input.py              something that wants a turn, and which one goes next
question.py           something only a person can decide, and the answer
notification.py       what people are notified of, and the text they get
notification_rules.py  when a notification is sent, and where
permission_policy.py  what happens when an agent needs permission
question_deadline.py  how long a session's questions wait
inbox.py              everything that is waiting for a person
turn.py               one run of an agent, and how it can end
budget.py             limits on tokens and dollars, and how much of them is used
repeated_calls.py     detects an agent that keeps repeating one call
usage_limit.py        vendors' usage limits, and when to try again
event.py              what happens during a turn
message.py            the transcript, and how events become messages
replay.py             skips events that are already stored when a turn is replayed
tool.py               what an agent can call
tool_call.py          checks the arguments of a call and runs the tool
validation.py         checks JSON against a model and explains what is wrong
refusal.py            describes a call in one line, e.g. one that was refused
hook_report.py        what an agent's hook reports
wire_format.py        these values as JSON, under the names other programs rely on
scheduling/           recalls, automations and reminders
access/               users, callers, logins and quotas
"""
