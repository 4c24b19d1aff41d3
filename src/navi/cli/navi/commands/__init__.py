"""The commands of `navi`, one per file.

serve.py        run the server
service.py      keep the server running in the background
upgrade.py      print or run the command that upgrades Navi
doctor.py       check the installation
setup.py        connect an agent to Navi
uninstall.py    disconnect every agent, and delete the data if asked to
login.py        print a link that logs a browser in
logout.py       log out a user's browsers
user.py         add, list and remove users
notify.py       test the channels on which Navi notifies people
token.py        replace the server's token
when.py         show how Navi interprets a time
mcp.py          serve Navi's tools to an agent, over MCP
import_jobs.py  import automations from a jobs.json file
completions.py  print a shell's completion script
"""
