"""Navi as a service of the person's own: started at login, restarted after a crash.

service_manager.py  what every service manager can do
definition.py       the file that defines the service
this_machine.py     the service manager of this system
systemd.py          runs `systemctl --user`
systemd_unit.py     the text of the unit
launchd.py          runs `launchctl`
launchd_agent.py    the property list
environment.py      what the service gets from the person's environment
start_command.py    the command that the service runs
readiness.py        whether the server answers
"""
