"""What agents can call, one file per tool.

schedule_recall.py  schedule a wake-up
manage_recall.py    cancel, skip and list recalls
cron.py             manage the session's automations
report_status.py    say what the agent is doing
send_message.py     write to another session
ask_person.py       ask the person the agent works for
search_sessions.py  search the memory
read_session.py     read one past session
sessions_of_file.py find the sessions that touched a file
memory_access.py    access checks and size limits of the memory tools
argument_types.py   types shared by the tools' arguments
files/              read, write and edit files
processes/          run commands
web/                fetch pages and call web APIs
"""
