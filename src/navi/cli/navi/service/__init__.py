"""Runs Navi as a user service: started at login, restarted after a crash.

service_manager.py  the interface of systemd and launchd
definition.py       the file that defines the service
this_machine.py     the service manager of this system
systemd.py          runs `systemctl --user`
systemd_unit.py     the text of the systemd unit
launchd.py          runs `launchctl`
launchd_agent.py    the property list of the launchd agent
environment.py      the service's environment variables
start_command.py    the command that the service runs
readiness.py        checks whether the server answers
"""
