"""`navi`: the server and its set-up, one command per file.

kept_files.py      what Navi keeps on this machine; installation.py how it got there
opened_store.py    users and logins, without a server
browser.py         opening a link in the person's browser
"""
