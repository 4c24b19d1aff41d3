"""`recall`: the memory, on the command line.

main.py          the entry point, and the table of commands
commands/        one command per file
options.py       options that several commands share
filter_words.py  completes filters such as agent:codex
no_matches.py    explains why a list or search is empty
freshness.py     indexes new messages before a command reads the index
embedding_process.py  makes vectors in the background while `recall watch` runs
progress.py      the progress bar
hits.py          prints search results
digest_view.py   prints a digest
comparison_view.py  prints two sessions side by side
agent_process.py  replaces this process with the agent that resumes a session
picker/          the full-screen picker
message_html.py  messages as harmless HTML
documents.py     a session as a document to keep or share
"""
