"""Commands that start a session, change it or end it.

spawn.py    start a session
rename.py   give a session another name
pin.py      keep sessions at the top of lists
archive.py  leave sessions out of lists
open.py     show a session on the page
attach.py   look into a session's terminal
stop.py     interrupt a session's turn
clear.py    give a session a new context
kill.py     end a session
delete.py   delete a session
"""
