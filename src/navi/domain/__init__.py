"""Values and decisions. Pure: no I/O, no clock, no imports from the rest of Navi.

clock.py    the `Clock` that everything else is given
errors.py   every refusal a user can see
user.py     who may see and do what; caller.py who makes a call; login.py a logged-in browser
token.py    how tokens begin
session.py  a conversation and the states it moves through
recall.py   a wake-up that a session schedules for itself
automation.py  a scheduled turn that belongs to a session; jobs_file.py those of an older system
schedule.py at an instant, every so often, or by a cron expression
prompts/    templates of what agents read at scheduled turns; scheduled_prompt.py fills them
reminder.py nudges for an agent that has not reported, and reminders for once
quota.py    how many of each thing a user or a session may have
limits.py   how large numbers may be; stored_text.py which texts the stores can keep
control_characters.py  what could control a terminal, taken out of texts that people read
when.py     what people write for a time, read as an instant and said back
timezone.py the zone in which a request's times are read and shown; instants.py, since.py
ids.py      names for new things; target.py which session somebody means
input.py    what wants a turn, and which one goes next
turn.py     one run of an agent, and how it can end
event.py    what happens during a turn
message.py  the transcript, and how events become messages
news.py     what agents report by their hooks
tool.py     what agents can call; refusal.py a call that was not permitted
retelling.py  passing over what is known already
wire.py     how these values look in JSON
places.py   where Navi's files are, and the server's address
file_modes.py  who may read what Navi writes; the only one here that touches files
agent_commands.py  what stands in agents' settings to reach Navi
history.py  what sources find in agents' own files
shell.py    what a shell line runs; shell_command.py and shell_tree.py are its parts
secrets.py  keys and passwords in texts, masked; secret_kind.py is a row of its tables, which are
            secret_tokens.py, secret_places.py and secret_arguments.py; secret_values.py
            decides whether a value in a secret's place is one
"""
