"""Commands that start a session, change it or end it.

spawn.py    start a session
rename.py   give a session another name
pin.py      keep sessions at the top of lists
archive.py  hide sessions from lists
open.py     show a session on the page
attach.py   attach to a session's terminal
stop.py     interrupt a session's turn
clear.py    clear a session's context
kill.py     end a session
delete.py   delete a session
"""
