"""`navi`: the server and its setup, one command per file.

agent_settings.py  Navi's entries in agents' own settings, for setup.py, uninstall.py and doctor.py
setup_hooks.py, setup_servers.py  what those entries are
setup_files.py     how such a file is changed, and restored
kept_files.py      what Navi keeps on this machine; installation.py how it got there
opened_store.py    users and logins, without a server
browser.py         opening a link in the person's browser
"""
