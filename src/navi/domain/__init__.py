"""Waiting for their rooms.

agent_commands.py  what agents run to reach Navi
light_typing.py    parts of `typing` that are quick to import
"""
