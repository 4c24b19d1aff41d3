"""What agents can call, one file each.

filesystem.py    read, list, write and edit inside the session's folder
terminal.py      run a command
http_request.py  fetch a page or call a web API
schedule_recall.py, manage_recall.py  wake this session later
cron.py          schedule turns of this session
report_status.py, send_message.py  say what it is doing; write to another session
search_sessions.py  find what any agent did before
address.py       which network addresses http_request may reach; response.py what it shows
argument_types.py  what the arguments of tools have in common
editing.py       which text of a file an edit means
folder.py        what lies inside the session's folder; opening and replacing files safely
process_group.py a command with the processes it starts; process_tree.py finds those that left it
text.py          foreign bytes as text that can be shown and stored
"""
