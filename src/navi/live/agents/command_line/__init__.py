"""Agents that run once per turn, without a terminal.

command_line_driver.py  the driver
run_questions.py        passes an agent's questions to people, and answers back
detached_run.py         one run, which outlives the server that started it
agent_environment.py    the environment of an agent that Navi starts
"""
