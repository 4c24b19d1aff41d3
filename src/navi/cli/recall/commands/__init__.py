"""The commands of `recall`, one per file.

pick.py          choose a session in a full-screen picker
index.py         index new messages
search.py        search what agents said and did
list.py          list sessions
show.py          show one session
digest.py        what was asked, what was done and what failed
diff.py          two sessions side by side
stats.py         count things; stats_tools.py, stats_bash.py and stats_tokens.py are its subcommands
resume.py        resume a session in its own agent
export.py        a session as Markdown or HTML, or all sessions in one file
import_sessions.py  add the sessions in an exported file
sync.py          exchange sessions with another machine
keep.py          keep copies of session files that agents delete
restore.py       bring back a kept file
model.py         show, install or remove the model for search by meaning
tag.py           tag a session; untag.py removes tags
watch.py         keep the index up to date
doctor.py        check the index
init.py          a script that binds a shell's key to the picker
completions.py   a shell's completion script
"""
