"""`navi`: the server and its set-up.

main.py          the entry point, and the table of commands
commands/        one command per file
browser.py       opens the page in a browser
installation.py  how Navi was installed
kept_files.py    files that stay after uninstalling
opened_store.py  the store, opened for one command
"""
