"""`navi`: the server and its set-up.

main.py              the entry point, and the table of commands
commands/            one command per file
service/             Navi as a service of systemd or launchd
first_run.py         what `navi` does without a command
connection_offer.py  offers once to connect each agent
browser.py           opens a login link in a browser
data_files.py        Navi's data on this machine
installation.py      how Navi was installed
installed_agents.py  the agents on this machine
listener.py          the socket on which the server listens
opened_store.py      the store, opened for one command
"""
