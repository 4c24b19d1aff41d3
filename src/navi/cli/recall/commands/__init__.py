"""The commands of `recall`, one per file.

index.py         index what is new
search.py        find what was said and done
list.py          list sessions
show.py          show one session
stats.py         counts; stats_tools.py, stats_bash.py and stats_tokens.py are its parts
resume.py        resume a session in its own agent
export.py        a session as Markdown or HTML
tag.py           tag a session; untag.py removes tags
watch.py         keep the index up to date
doctor.py        check the index
completions.py   a shell's completion script
"""
