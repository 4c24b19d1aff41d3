"""The commands of `navi`, one per file.

serve.py        run the server
doctor.py       check the installation
setup.py        connect an agent to Navi
uninstall.py    disconnect every agent
login.py        print a link that logs a browser in
logout.py       log out a user's browsers
user.py         add, list and remove users
token.py        replace the server's token
when.py         show how a time expression is read
mcp.py          Navi's tools for an agent, over MCP
import_jobs.py  import automations from a jobs.json
completions.py  a shell's completion script
"""
