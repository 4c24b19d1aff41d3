"""Agents run once per turn by their own command line, without a terminal.

command_line_driver.py  the driver
detached_run.py         one run that outlives the server that started it
agent_environment.py    the environment of an agent that Navi starts
"""
