"""Agents that run once per turn, without a terminal.

command_line_driver.py  the driver
detached_run.py         one run, which outlives the server that started it
agent_environment.py    the environment of an agent that Navi starts
"""
