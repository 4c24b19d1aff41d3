"""The commands of `recall`, one per file.

pick.py          choose a session on a full screen
index.py         index what is new
search.py        find what was said and done
list.py          list sessions
show.py          show one session
digest.py        what was asked, done and failed
diff.py          two sessions side by side
stats.py         count things; stats_tools.py, stats_bash.py and stats_tokens.py are its subcommands
resume.py        resume a session in its own agent
export.py        a session as Markdown or HTML, or all sessions in one file
import_sessions.py  add the sessions of such a file
sync.py          exchange sessions with another machine
keep.py          keep session files that agents delete
restore.py       bring back a kept file
model.py         install or remove the model that searches by meaning
tag.py           tag a session; untag.py removes tags
watch.py         keep the index up to date
doctor.py        check the index
init.py          a shell's key for the picker
completions.py   a shell's completion script
"""
